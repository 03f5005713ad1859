"use strict";
// The network: nodes, links, packets on them, and the queues of ports by class.
{
  const { words } = window.replay;
  const MARGIN = 26;
  const LANE = 4;
  const MOST_SIGNS = 200;
  // Names of rings that are nearer to each other would overlap.
  const NAME_PX = 60;
  // Below these many bytes a packet carries nothing: it is drawn thin.
  const SMALL = 200;

  // Where a link is drawn: on the right of its direction, the n-th of parallel ones further out.
  const lane = (from, to, nth, radius) => {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const aside = LANE * (1 + 2 * nth);
    const [sx, sy] = [-uy * aside, ux * aside];
    const room = Math.min(radius, length / 3);
    return {
      x: from.x + ux * room + sx,
      y: from.y + uy * room + sy,
      ux,
      uy,
      length: Math.max(1, length - 2 * room),
    };
  };

  class Network {
    constructor(canvas, model) {
      Object.assign(this, { canvas, model, selected: null, found: [], rings: [] });
      this.resize();
    }

    resize() {
      const { head } = this.model;
      this.layer = replay.canvas.fit(this.canvas);
      const { width, height } = this.layer;
      const hosts = head.nodes.filter((node) => node.tier === 0 && node.at);
      const room = (width - 2 * MARGIN) / Math.max(1, hosts.length);
      this.radius = Math.max(3, Math.min(9, room / 2.6));
      this.boxes = this.boxesOfSwitches(width);
      // Names of hosts where they do not run into each other.
      this.hasNames = room > 5 + 7 * Math.max(0, ...hosts.map(({ name }) => name.length));
      this.nodes = head.nodes.map((node) => node.at && {
        x: MARGIN + node.at[0] * (width - 2 * MARGIN),
        y: height - MARGIN - 10 - node.at[1] * (height - 2 * MARGIN - 20),
      });
      const seen = new Map();
      this.lanes = head.links.map(({ from, to }) => {
        if (!this.nodes[from] || !this.nodes[to]) return null;
        const key = `${from} ${to}`;
        const nth = seen.get(key) ?? 0;
        seen.set(key, nth + 1);
        return lane(this.nodes[from], this.nodes[to], nth, this.reach(from, to));
      });
      this.still = null;
    }

    // Half the width of each switch: it holds its name if those of its tier have room side by side.
    boxesOfSwitches(width) {
      const { head } = this.model;
      const { context } = this.layer;
      context.font = replay.canvas.font(11);
      const tiers = new Map();
      for (const { tier, at } of head.nodes) if (at && tier > 0) tiers.set(tier, (tiers.get(tier) ?? 0) + 1);
      return head.nodes.map(({ name, tier, at }) => {
        if (!at || tier === 0) return null;
        const half = context.measureText(name).width / 2 + 7;
        const hasName = 2 * half + 6 < (width - 2 * MARGIN) / tiers.get(tier);
        return { half: hasName ? half : this.radius + 3, hasName };
      });
    }

    // How far from the middle of a node a link to another one begins: behind the edge of what is drawn.
    reach(from, to) {
      const box = this.boxes[from] ?? this.boxes[to];
      if (!box) return this.radius + 3;
      const [a, b] = [this.nodes[from], this.nodes[to]];
      const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
      const [ux, uy] = [Math.abs(b.x - a.x) / length, Math.abs(b.y - a.y) / length];
      return Math.min(box.half / Math.max(ux, 1e-6), this.radius / Math.max(uy, 1e-6)) + 4;
    }

    // Links, which do not change, and what stands over packets: nodes and their names.
    background() {
      const still = replay.canvas.behind(this.layer);
      const { context } = still;
      const colour = replay.colours();
      context.strokeStyle = colour.rule;
      context.lineWidth = 1;
      context.beginPath();
      for (const at of this.lanes) {
        if (!at) continue;
        context.moveTo(at.x, at.y);
        context.lineTo(at.x + at.ux * at.length, at.y + at.uy * at.length);
      }
      context.stroke();
      return still;
    }

    foreground() {
      const front = replay.canvas.behind(this.layer);
      const colour = replay.colours();
      front.context.textAlign = "center";
      this.nodes.forEach((at, number) => at && this.node(front.context, colour, number));
      return front;
    }

    // A host has its name below it, where no link is, and a switch within.
    node(context, colour, number) {
      const { name, tier } = this.model.head.nodes[number];
      const at = this.nodes[number];
      const box = this.boxes[number];
      context.fillStyle = tier === 0 ? colour.paper : colour.soft;
      context.strokeStyle = colour.soft;
      context.lineWidth = 1.5;
      context.beginPath();
      if (tier === 0) context.arc(at.x, at.y, this.radius, 0, 2 * Math.PI);
      else context.roundRect(at.x - box.half, at.y - this.radius, 2 * box.half, 2 * this.radius, 3);
      context.fill();
      context.stroke();
      if (!(box ? box.hasName : this.hasNames)) return;
      context.font = replay.canvas.font(11);
      context.fillStyle = box ? colour.paper : colour.ink;
      context.fillText(name, at.x, box ? at.y + 4 : at.y + this.radius + 12);
    }

    draw(time, recent) {
      const { context, width, height } = this.layer;
      this.still ??= { back: this.background(), front: this.foreground() };
      context.clearRect(0, 0, width, height);
      replay.canvas.put(this.still.back, this.layer);
      const shown = this.packets(time);
      this.queues(time);
      replay.canvas.put(this.still.front, this.layer);
      this.waiting(time);
      this.discs();
      this.signs(time - recent, time);
      return shown;
    }

    // Packets in strokes by colour and width; returns how many there are.
    packets(time) {
      const { context } = this.layer;
      const { columns } = this.model;
      const strokes = new Map();
      this.found = [];
      let shown = 0;
      this.lanes.forEach((at, link) => {
        if (!at) return;
        this.model.onLink(link, time, (hop, place) => {
          const packet = columns.hop_packet[hop];
          const isSmall = columns.packet_wire[packet] < SMALL;
          const half = Math.max(2, (0.42 * at.length * columns.hop_sending[hop]) / Math.max(1, columns.hop_flying[hop]));
          const [from, to] = [Math.max(0, place * at.length - half), Math.min(at.length, place * at.length + half)];
          const key = `${columns.packet_class[packet]} ${isSmall ? 2 : 4}`;
          if (!strokes.has(key)) strokes.set(key, new Path2D());
          const path = strokes.get(key);
          path.moveTo(at.x + at.ux * from, at.y + at.uy * from);
          path.lineTo(at.x + at.ux * to, at.y + at.uy * to);
          if (this.model.chosen.has(this.model.flowOf(hop).id)) {
            const middle = (from + to) / 2;
            this.found.push({ hop, x: at.x + at.ux * middle, y: at.y + at.uy * middle });
          }
          shown += 1;
        });
      });
      context.lineCap = "butt";
      for (const [key, path] of strokes) {
        const [name, wide] = key.split(" ").map(Number);
        context.strokeStyle = replay.classColour(name);
        context.lineWidth = wide;
        context.stroke(path);
      }
      return shown;
    }

    colourOfFlow(hop) {
      return replay.flowColour(this.model.head.chosen.indexOf(this.model.flowOf(hop).id));
    }

    // A disc on each packet of the chosen flows, with a second edge on the selected one.
    discs() {
      const { context } = this.layer;
      const colour = replay.colours();
      for (const { hop, x, y } of this.found) {
        const isSelected = this.model.columns.hop_packet[hop] === this.selected;
        context.beginPath();
        context.arc(x, y, isSelected ? 8 : 6, 0, 2 * Math.PI);
        context.fillStyle = this.colourOfFlow(hop);
        context.fill();
        context.strokeStyle = isSelected ? colour.ink : colour.paper;
        context.lineWidth = isSelected ? 3 : 2;
        context.stroke();
      }
    }

    // A ring around the queue of each port where packets of the chosen flows wait.
    waiting(time) {
      const { hop_queued: queued, hop_link: links } = this.model.columns;
      const at = new Map();
      for (const hop of this.model.own) {
        if (queued[hop] > time) break;
        if (queued[hop] + this.model.waited(hop) > time) at.set(links[hop], [...(at.get(links[hop]) ?? []), hop]);
      }
      this.rings = [];
      for (const [link, hops] of at) {
        const bar = this.bar({ link });
        if (!bar) continue;
        const [x, y] = [bar.x + 4 * bar.ux, bar.y + 4 * bar.uy];
        this.rings.push({ hop: hops[0], many: hops.length, x, y, bar });
      }
      this.rings.forEach((ring, nth) => this.waitRing(ring, this.rings.slice(0, nth)));
    }

    // A ring, and the number of packets beside it where no other ring is near.
    waitRing({ hop, many, x, y, bar }, before) {
      const { context } = this.layer;
      const colour = this.colourOfFlow(hop);
      context.beginPath();
      context.arc(x, y, 10, 0, 2 * Math.PI);
      context.strokeStyle = colour;
      context.lineWidth = 3;
      context.stroke();
      if (before.some((one) => Math.hypot(one.x - x, one.y - y) < NAME_PX)) return;
      context.font = replay.canvas.font(12);
      context.textAlign = bar.uy > 0 ? "right" : "left";
      context.strokeStyle = replay.colours().paper;
      context.lineWidth = 4;
      const at = [x - Math.sign(bar.uy || 1) * 16, y + bar.ux * 16 + 4];
      context.strokeText(`${many} waiting`, ...at);
      context.fillStyle = colour;
      context.fillText(`${many} waiting`, ...at);
    }

    // Where the bar of a port's queue begins, and how long it is at a number of bytes.
    bar(port) {
      const at = this.lanes[port.link];
      if (!at) return null;
      const aside = 8;
      const scale = (0.42 * at.length) / Math.max(1, this.model.longest);
      return { ...at, x: at.x - at.uy * aside, y: at.y + at.ux * aside, scale };
    }

    queues(time) {
      const stroke = (at, from, to, colour, wide) => {
        const { context } = this.layer;
        context.strokeStyle = colour;
        context.lineWidth = wide;
        context.beginPath();
        context.moveTo(at.x + at.ux * from, at.y + at.uy * from);
        context.lineTo(at.x + at.ux * to, at.y + at.uy * to);
        context.stroke();
      };
      const edge = replay.colours().soft;
      for (const port of this.model.ports) {
        const at = this.bar(port);
        const held = at && port.all.at(time).bytes;
        if (!held) continue;
        stroke(at, -1, Math.max(2, held * at.scale) + 1, edge, 9);
        let from = 0;
        for (const queue of port.classes) {
          const { bytes } = queue.at(time);
          if (bytes <= 0) continue;
          const to = from + Math.max(1, bytes * at.scale);
          stroke(at, from, to, replay.classColour(queue.class), 7);
          from = to;
        }
      }
    }

    // What happened just before: a cross where a packet was dropped or lost, a ring where a sender timed out or was
    // demoted.
    signs(from, until) {
      const { columns } = this.model;
      const [first, last] = this.model.marksBetween(from, until);
      const colour = replay.colours();
      for (let nth = Math.max(first, last - MOST_SIGNS); nth < last; nth += 1) {
        const row = columns.mark_row[nth];
        if (row < 3) this.cross(columns.mark_hop[nth] - 1, row === 2 ? 0.5 : 0.04, colour.bad);
        else if (row < 5) {
          const flow = this.model.head.flows[columns.mark_flow[nth]];
          this.ring(this.nodes[flow.src], row === 3 ? colour.bad : colour.accent);
        }
      }
    }

    cross(hop, part, colour) {
      const at = this.lanes[this.model.columns.hop_link[hop]];
      if (!at) return;
      const [x, y] = [at.x + at.ux * at.length * part, at.y + at.uy * at.length * part];
      const { context } = this.layer;
      context.strokeStyle = colour;
      context.lineWidth = 2.5;
      context.beginPath();
      for (const sign of [-1, 1]) {
        context.moveTo(x - 6, y - 6 * sign);
        context.lineTo(x + 6, y + 6 * sign);
      }
      context.stroke();
    }

    ring(at, colour) {
      if (!at) return;
      const { context } = this.layer;
      context.strokeStyle = colour;
      context.lineWidth = 3;
      context.beginPath();
      context.arc(at.x, at.y, this.radius + 4, 0, 2 * Math.PI);
      context.stroke();
    }

    // What is under the pointer, in lines, or null.
    hover(x, y, time) {
      const own = this.ownUnder(x, y);
      if (own >= 0) return words.hop(this.model, own);
      const number = this.nodes.findIndex((at, nth) => at && this.isOn(at, nth, x, y));
      if (number >= 0) return this.nodeWords(number, time);
      const hop = this.packetUnder(x, y, time);
      return hop >= 0 ? words.hop(this.model, hop) : this.queueUnder(x, y, time);
    }

    isOn(at, nth, x, y) {
      const wide = (this.boxes[nth]?.half ?? this.radius) + 4;
      return Math.abs(at.x - x) < wide && Math.abs(at.y - y) < this.radius + 4;
    }

    // The hop of a disc or a ring that is under the pointer, or -1.
    ownUnder(x, y) {
      return [...this.found, ...this.rings].find((one) => Math.hypot(one.x - x, one.y - y) < 11)?.hop ?? -1;
    }

    // The hop of what a click chooses, or -1.
    hopAt(x, y, time) {
      const own = this.ownUnder(x, y);
      return own >= 0 ? own : this.packetUnder(x, y, time);
    }

    nodeWords(number, time) {
      const { model } = this;
      const { name, tier } = model.head.nodes[number];
      const ports = model.ports.filter((port) => model.head.links[port.link].from === number);
      const held = ports.map((port) => [model.head.links[port.link].port, port.all.at(time)]);
      const queues = held.filter(([, { packets }]) => packets > 0);
      return [
        tier === 0 ? `host ${name}` : `switch ${name}`,
        ...queues.map(([port, { packets, bytes }]) => `${port}: ${words.count(packets, "packet")}, ${words.bytes(bytes)}`),
      ];
    }

    // The distance of a point from a line along `at`, and how far along it is.
    static along(at, x, y) {
      const [dx, dy] = [x - at.x, y - at.y];
      return { far: Math.abs(dx * at.uy - dy * at.ux), along: dx * at.ux + dy * at.uy };
    }

    packetUnder(x, y, time) {
      let best = null;
      this.lanes.forEach((at, link) => {
        if (!at) return;
        const { far, along } = Network.along(at, x, y);
        if (far > 5 || along < -4 || along > at.length + 4) return;
        this.model.onLink(link, time, (hop, place) => {
          const off = Math.abs(place * at.length - along) + far;
          const half = (0.5 * at.length * this.model.columns.hop_sending[hop]) / this.model.columns.hop_flying[hop];
          if (off < half + 8 && (!best || off < best.off)) best = { off, hop };
        });
      });
      return best ? best.hop : -1;
    }

    queueUnder(x, y, time) {
      for (const port of this.model.ports) {
        const at = this.bar(port);
        if (!at) continue;
        const { far, along } = Network.along(at, x, y);
        const { bytes } = port.all.at(time);
        if (bytes > 0 && far < 5 && along > -3 && along < bytes * at.scale + 4) return words.port(this.model, port, time);
      }
      return null;
    }
  }

  window.replay.Network = Network;
}
