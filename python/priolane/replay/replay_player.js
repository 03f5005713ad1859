"use strict";
// Playing, the slider, zooming and hovering.
{
  const { words, Model, Network, Axis, Tracks, Lines, Queues, PacketPanel } = window.replay;
  const SLIDER = 10_000;
  // How long a loss stays in the picture, and how long playing all of it takes at first, in seconds.
  const SIGN_S = 0.4;
  const WHOLE_S = 40;
  const get = (id) => document.getElementById(id);

  class Player {
    constructor(model) {
      this.model = model;
      this.axis = new Axis(get("axis"), model);
      this.network = new Network(get("network"), model);
      this.queues = new Queues(get("queues"), model);
      this.lines = new Lines(get("lines"), this.axis, model);
      this.tracks = new Tracks(get("tracks"), this.axis, model);
      this.panel = new PacketPanel(model, (time) => this.shown(time));
      Object.assign(this, { time: this.first(), isPlaying: false, last: null, frames: 0, drawnMs: 0 });
      this.offerSpeeds();
      this.offerGroups();
      this.listen();
    }

    // The page opens where the traced flow waits longest, with the packet that waits; without one, where it begins.
    first() {
      const { model } = this;
      const hop = model.longestWait();
      if (hop < 0) return 0;
      this.select(model.columns.hop_packet[hop]);
      return model.instantOf(hop);
    }

    select(packet) {
      this.panel.choose(packet);
      this.network.selected = this.tracks.selected = packet;
    }

    // What the panel shows has changed: time goes to where its packet waits longest, or stays if it was closed.
    shown(time) {
      this.network.selected = this.tracks.selected = this.panel.packet;
      if (time === null) this.draw();
      else this.seek(time);
    }

    offerSpeeds() {
      const select = get("speed");
      const all = this.model.us(this.model.ends) - this.model.us(0);
      const fit = all / WHOLE_S;
      const power = 10 ** Math.floor(Math.log10(fit));
      const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].map((one) => one * power);
      for (const speed of speeds) select.add(new Option(`${words.span(speed)} a second`, speed));
      select.value = String(speeds.reduce((best, one) => (Math.abs(one - fit) < Math.abs(best - fit) ? one : best)));
    }

    offerGroups() {
      const select = get("group");
      this.lines.groups.forEach(({ name }, nth) => select.add(new Option(name, nth)));
      get("senders").hidden = !this.lines.groups.length;
      get("silent").hidden = Boolean(this.lines.groups.length);
      if (this.lines.groups.length) this.lines.resize();
      this.legend();
    }

    legend() {
      const items = this.lines.series.map(({ flow, metric, nth, dash }) => {
        const item = document.createElement("li");
        const line = document.createElement("span");
        line.className = dash.length ? "sample dashed" : "sample";
        line.dataset.flow = nth % 6;
        item.append(line, `flow ${flow} ${metric.replace(/_(bytes|ps)$/, "")}`);
        return item;
      });
      get("legend").replaceChildren(...items);
    }

    // Ticks of the page's clock in a second of playing.
    get speed() {
      return this.model.ticks(Number(get("speed").value));
    }

    listen() {
      get("play").addEventListener("click", () => this.play(!this.isPlaying));
      get("slider").addEventListener("input", () => {
        const { from, until } = this.axis;
        this.seek(from + (get("slider").value / SLIDER) * (until - from));
      });
      get("speed").addEventListener("input", () => this.draw());
      get("group").addEventListener("input", () => {
        this.lines.choose(Number(get("group").value));
        this.legend();
        this.draw();
      });
      for (const [id, factor] of [["closer", 0.4], ["wider", 2.5], ["whole", Infinity]]) {
        get(id).addEventListener("click", () => this.zoom(factor));
      }
      document.addEventListener("keydown", (event) => this.key(event));
      this.drag(get("axis"));
      this.drag(get("lines"));
      for (const id of ["network", "tracks"]) get(id).addEventListener("click", (event) => this.click(id, event));
      for (const id of ["axis", "lines", "network", "queues", "tracks"]) {
        get(id).addEventListener("pointermove", (event) => this.hover(id, event));
        get(id).addEventListener("pointerleave", () => this.say(null));
      }
      new ResizeObserver(() => this.resize()).observe(get("network"));
      const dark = window.matchMedia("(prefers-color-scheme: dark)");
      dark.addEventListener("change", () => this.repaint());
    }

    // Chooses the packet under the pointer.
    click(id, event) {
      const [x, y] = [event.offsetX, event.offsetY];
      const hop = id === "tracks" ? this.tracks.hopAt(x, y) : this.network.hopAt(x, y, this.time);
      if (hop < 0) return;
      this.select(this.model.columns.hop_packet[hop]);
      if (id === "tracks") this.seek(this.axis.time(x));
      else this.draw();
    }

    drag(canvas) {
      const seek = (event) => this.seek(this.axis.time(event.offsetX));
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        seek(event);
      });
      canvas.addEventListener("pointermove", (event) => event.buttons && seek(event));
    }

    key(event) {
      const inField = ["INPUT", "SELECT", "BUTTON", "SUMMARY"].includes(event.target.tagName);
      if (event.key === " " && !inField) {
        event.preventDefault();
        this.play(!this.isPlaying);
      } else if (event.key === "." || event.key === ",") this.step(event.key === "." ? 1 : -1);
      else if (event.key === "Escape" && this.panel.packet !== null) this.panel.close();
      else if (!event.ctrlKey && !event.metaKey && !inField && "np".includes(event.key)) this.panel.step(event.key === "n" ? 1 : -1);
    }

    // To the next mark, or the one before.
    step(sign) {
      const { columns } = this.model;
      const [before, next] = this.model.marksBetween(this.time - 1, this.time);
      const nth = sign > 0 ? next : before - 1;
      if (nth >= 0 && nth < columns.mark_at.length) this.seek(columns.mark_at[nth]);
    }

    play(on) {
      if (on && this.time >= this.model.ends) this.time = 0;
      Object.assign(this, { isPlaying: on, last: null });
      get("play").textContent = on ? "Pause" : "Play";
      get("play").setAttribute("aria-pressed", String(on));
      if (on) requestAnimationFrame((now) => this.frame(now));
    }

    frame(now) {
      if (!this.isPlaying) return;
      const passed = this.last === null ? 0 : Math.min(0.1, (now - this.last) / 1000);
      this.last = now;
      this.time = Math.min(this.model.ends, this.time + passed * this.speed);
      this.follow();
      this.draw();
      if (this.time >= this.model.ends) this.play(false);
      else requestAnimationFrame((next) => this.frame(next));
    }

    // Keeps the instant within what the axis shows.
    follow() {
      const { from, until } = this.axis;
      const wide = until - from;
      if (this.time >= from && this.time <= until) return;
      const begin = Math.max(0, Math.min(this.model.ends - wide, this.time - 0.1 * wide));
      this.show(begin, begin + wide);
    }

    seek(time) {
      this.time = Math.max(0, Math.min(this.model.ends, time));
      this.follow();
      this.draw();
    }

    zoom(factor) {
      const wide = Math.min(this.model.ends, Math.max(20, (this.axis.until - this.axis.from) * factor));
      const begin = Math.max(0, Math.min(this.model.ends - wide, this.time - wide / 2));
      this.show(begin, begin + wide);
      this.draw();
    }

    show(from, until) {
      this.axis.zoom(from, until);
      this.lines.still = this.tracks.still = null;
    }

    resize() {
      for (const part of [this.axis, this.network, this.lines, this.tracks, this.queues]) part.resize();
      get("slider").style.marginLeft = `${this.axis.left - 8}px`;
      this.draw();
    }

    repaint() {
      replay.forgetColours();
      for (const part of [this.axis, this.network, this.lines, this.tracks]) part.still = null;
      this.draw();
    }

    draw() {
      const began = performance.now();
      const { axis, model, time } = this;
      this.axis.draw(time);
      const shown = this.network.draw(time, SIGN_S * this.speed);
      this.queues.draw(time);
      this.lines.draw(time);
      this.tracks.draw(time);
      get("slider").value = String(Math.round((SLIDER * (time - axis.from)) / (axis.until - axis.from)));
      let [packets, bytes] = [0, 0];
      for (const port of model.ports) {
        const held = port.all.at(time);
        [packets, bytes] = [packets + held.packets, bytes + held.bytes];
      }
      get("now").textContent = words.us(model.us(time));
      get("held").textContent = `${words.count(shown, "packet")} on links, ${words.number(packets)} in queues (${words.bytes(bytes)})`;
      this.frames += 1;
      this.drawnMs += performance.now() - began;
    }

    hover(id, event) {
      const [x, y] = [event.offsetX, event.offsetY];
      const found = {
        axis: () => this.axis.hover(x, y),
        lines: () => this.lines.hover(this.axis.time(x)),
        network: () => this.network.hover(x, y, this.time),
        queues: () => this.queues.hover(y, this.time),
        tracks: () => this.tracks.hover(x, y),
      }[id]();
      this.say(found, event.clientX, event.clientY);
    }

    say(lines, x, y) {
      const box = get("tip");
      box.hidden = !lines;
      if (!lines) return;
      box.textContent = lines.join("\n");
      const { width, height } = box.getBoundingClientRect();
      box.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 4))}px`;
      box.style.top = `${y + 18 + height > window.innerHeight ? y - height - 12 : y + 18}px`;
    }
  }

  const start = async () => {
    const model = new Model(await window.replay.read());
    window.replay.takeShades(model.head);
    window.replay.player = new Player(model);
    document.body.dataset.state = "ready";
  };
  start().catch((error) => {
    document.body.dataset.state = "failed";
    get("held").textContent = `This browser cannot show the replay: ${error.message}`;
    throw error;
  });
}
