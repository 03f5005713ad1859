"use strict";
// A row for each port: packets as bars from their first bit to their last, over the time of the axis. Ports on the way of
// the chosen flows come first, then the ones with the longest queues. Packets of chosen flows are full and have a line
// below them for as long as they waited; those of others are faint.
{
  const { words, firstAbove } = window.replay;
  const ROW = 20;
  const [MOST_OWN, MOST_OTHERS] = [14, 4];
  const FAINT = 0.4;
  const NEAR_PX = 5;
  const LEAST_PX = 3;

  class Tracks {
    constructor(canvas, axis, model) {
      Object.assign(this, { canvas, axis, model, selected: null });
      const own = [...new Set([...model.own].map((hop) => model.columns.hop_link[hop]))].slice(0, MOST_OWN);
      const others = model.busiest.map(({ link }) => link).filter((link) => !own.includes(link));
      this.own = own.length;
      this.links = [...own, ...others.slice(0, MOST_OTHERS)];
      this.rowOf = new Map(this.links.map((link, row) => [link, row]));
      canvas.style.height = `${Math.max(1, this.links.length) * ROW + 8}px`;
      this.resize();
    }

    resize() {
      this.layer = replay.canvas.fit(this.canvas);
      this.still = null;
    }

    // Rows of ports that the chosen flows do not pass stand a little lower.
    top(row) {
      return row * ROW + (row >= this.own ? 6 : 2);
    }

    // Calls `see(hop, x, width)` for the packets that a port sends within what is shown.
    sent(link, see) {
      const hops = this.model.links[link];
      const { hop_leaves: start, hop_sending: sending } = this.model.columns;
      const { axis } = this;
      const first = firstAbove(0, hops.length, axis.from, (i) => start[hops[i]] + sending[hops[i]]);
      for (let i = first; i < hops.length && start[hops[i]] <= axis.until; i += 1) {
        const x = axis.x(start[hops[i]]);
        see(hops[i], x, axis.x(start[hops[i]] + sending[hops[i]]) - x);
      }
    }

    isOwn(hop) {
      return this.model.chosen.has(this.model.flowOf(hop).id);
    }

    background() {
      const still = replay.canvas.behind(this.layer);
      const { context } = still;
      const colour = replay.colours();
      context.font = replay.canvas.font(12);
      context.textAlign = "right";
      this.links.forEach((link, row) => {
        const top = this.top(row);
        context.fillStyle = row < this.own ? colour.ink : colour.soft;
        context.fillText(this.model.head.links[link].port, this.axis.left - 10, top + 13, this.axis.left - 12);
        context.fillStyle = colour.ground;
        context.fillRect(this.axis.left, top + 2, this.axis.width, ROW - 5);
      });
      context.save();
      context.beginPath();
      context.rect(this.axis.left, 0, this.axis.width, this.layer.height);
      context.clip();
      this.links.forEach((link, row) => this.bars(context, link, this.top(row)));
      this.waits(context);
      context.restore();
      return still;
    }

    bars(context, link, top) {
      const { packet_class: classes } = this.model.columns;
      const own = [];
      let right = -Infinity;
      context.globalAlpha = FAINT;
      this.sent(link, (hop, x, wide) => {
        if (this.isOwn(hop)) own.push([hop, x, wide]);
        // What would fall on the pixel of the bar before adds nothing.
        else if (x + wide > right + 0.5) {
          context.fillStyle = replay.classColour(classes[this.model.columns.hop_packet[hop]]);
          context.fillRect(x, top + 3, Math.max(1, wide - 0.5), 9);
          right = x + wide;
        }
      });
      context.globalAlpha = 1;
      for (const [hop, x, wide] of own) {
        context.fillStyle = replay.classColour(classes[this.model.columns.hop_packet[hop]]);
        context.fillRect(x, top + 2, Math.max(LEAST_PX, wide - 0.5), 11);
      }
    }

    // How long packets of chosen flows waited, in the colour of the flow.
    waits(context) {
      const { hop_queued: queued, hop_link: links } = this.model.columns;
      for (const hop of this.model.own) {
        const row = this.rowOf.get(links[hop]);
        const end = queued[hop] + this.model.waited(hop);
        if (row === undefined || end <= queued[hop] || end < this.axis.from || queued[hop] > this.axis.until) continue;
        context.fillStyle = replay.flowColour(this.model.head.chosen.indexOf(this.model.flowOf(hop).id));
        const x = this.axis.x(queued[hop]);
        context.fillRect(x, this.top(row) + 14, Math.max(1, this.axis.x(end) - x), 3);
      }
    }

    draw(time) {
      const { context, width, height } = this.layer;
      this.still ??= this.background();
      context.clearRect(0, 0, width, height);
      replay.canvas.put(this.still, this.layer);
      if (this.selected !== null) this.outline(context);
      const x = this.axis.x(time);
      if (x < this.axis.left - 1 || x > width) return;
      context.strokeStyle = replay.colours().ink;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.stroke();
    }

    // A frame around the selected packet on each port.
    outline(context) {
      const { columns, head } = this.model;
      context.strokeStyle = replay.colours().ink;
      context.lineWidth = 2;
      for (const hop of this.model.hopsOf(this.selected)) {
        const row = this.rowOf.get(columns.hop_link[hop]);
        if (row === undefined || hop >= head.sent) continue;
        const x = this.axis.x(columns.hop_leaves[hop]);
        const wide = Math.max(LEAST_PX, this.axis.x(columns.hop_leaves[hop] + columns.hop_sending[hop]) - x);
        if (x + wide < this.axis.left || x > this.axis.left + this.axis.width) continue;
        context.strokeRect(x - 2, this.top(row) + 1, wide + 4, 13);
      }
    }

    // The hop whose bar is at a place, one of a chosen flow before others, or -1.
    hopAt(x, y) {
      const row = this.links.findIndex((_, nth) => y >= this.top(nth) && y < this.top(nth) + ROW);
      if (row < 0 || x < this.axis.left) return -1;
      let [best, far] = [-1, NEAR_PX];
      this.sent(this.links[row], (hop, from, wide) => {
        const off = Math.max(0, from - x, x - from - wide) - (this.isOwn(hop) ? 1 : 0);
        if (off < far) [best, far] = [hop, off];
      });
      return best;
    }

    hover(x, y) {
      const hop = this.hopAt(x, y);
      return hop < 0 ? null : words.hop(this.model, hop);
    }
  }

  window.replay.Tracks = Tracks;
}
