"use strict";
// What all drawings share: canvases of the screen's resolution, colours of the style sheet, axes.
{
  const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
  const CLASSES = 8;
  let kept = null;

  // Colours by name, as the style sheet has them in the light or in the dark.
  const colours = () => {
    if (kept) return kept;
    const style = getComputedStyle(document.documentElement);
    const names = ["paper", "ground", "ink", "soft", "rule", "accent", "bad"];
    kept = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    kept.classes = Array.from({ length: CLASSES }, (_, n) => style.getPropertyValue(`--class-${n}`).trim());
    kept.flows = Array.from({ length: 6 }, (_, n) => style.getPropertyValue(`--flow-${n}`).trim());
    return kept;
  };
  const forgetColours = () => {
    kept = null;
  };
  // Shades by class, in the order of classes: content.py spreads those that there are over all shades.
  const shades = new Map();
  const takeShades = (head) => head.classes.forEach((name, nth) => shades.set(name, head.shades[nth]));
  const classColour = (name) => colours().classes[shades.get(name) ?? name % CLASSES];
  const flowColour = (nth) => colours().flows[nth % colours().flows.length];

  // Gives a canvas as many pixels as the screen has under it; one unit is one CSS pixel.
  const fit = (canvas) => {
    const { width, height } = canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return { canvas, context, width, height, ratio };
  };
  // A canvas of the same size that is not on the page.
  const behind = (layer) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [layer.canvas.width, layer.canvas.height];
    const context = canvas.getContext("2d");
    context.setTransform(layer.ratio, 0, 0, layer.ratio, 0, 0);
    return { ...layer, canvas, context };
  };
  const put = (from, to) => to.context.drawImage(from.canvas, 0, 0, to.width, to.height);
  const font = (size) => `${size}px ${FAMILY}`;

  // Round numbers from `from` to `to`, at most about `most` of them.
  const ticks = (from, to, most) => {
    const rough = (to - from) / Math.max(1, most);
    if (!(rough > 0)) return [];
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
    const found = [];
    for (let n = Math.ceil(from / step); n * step <= to; n += 1) found.push(n * step);
    return found;
  };

  // The width that names of rows take, left of what is drawn over time.
  const gutter = (width) => Math.round(Math.min(150, Math.max(92, 0.14 * width)));
  const RIGHT = 12;

  Object.assign(window.replay, { colours, forgetColours, takeShades, classColour, flowColour });
  window.replay.canvas = { fit, behind, put, font, ticks, gutter, RIGHT };
}
