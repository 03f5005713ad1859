"use strict";
// What is where at an instant, found by binary search: packets on links, queues by class, marks, readings.
{
  const NEVER = 2 ** 32 - 1;

  // The first place in `values` from `low` on that is above `limit`; `at` gives the value of a place.
  const firstAbove = (low, high, limit, at) => {
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at(middle) > limit) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const above = (values, limit) => firstAbove(0, values.length, limit, (i) => values[i]);

  // Hops by link, in the order in which they were sent: so is the order in which they arrive.
  const byLink = (head, columns) => {
    const lists = head.links.map(() => []);
    for (let hop = 0; hop < head.sent; hop += 1) lists[columns.hop_link[hop]].push(hop);
    return lists.map((list) => Uint32Array.from(list));
  };

  // A queue over time: steps at `times`, after each of which there are so many packets and bytes.
  class Queue {
    constructor(link, name) {
      Object.assign(this, { link, class: name, times: [], packets: [], bytes: [], most: 0 });
    }

    add(time, packets, bytes) {
      const last = this.times.length - 1;
      const held = [(this.packets[last] ?? 0) + packets, (this.bytes[last] ?? 0) + bytes];
      if (this.times[last] === time) [this.packets[last], this.bytes[last]] = held;
      else {
        this.times.push(time);
        this.packets.push(held[0]);
        this.bytes.push(held[1]);
      }
      this.most = Math.max(this.most, held[1]);
    }

    at(time) {
      const step = above(this.times, time) - 1;
      return step < 0 ? { packets: 0, bytes: 0 } : { packets: this.packets[step], bytes: this.bytes[step] };
    }
  }

  // Packets that come to ports and leave them, in order of time; at one instant those that leave are first.
  const changes = (columns) => {
    const found = [];
    const count = columns.hop_packet.length;
    for (let hop = 0; hop < count; hop += 1) {
      if (columns.hop_leaves[hop] <= columns.hop_queued[hop]) continue;
      found.push([columns.hop_queued[hop], 1, hop]);
      if (columns.hop_leaves[hop] < NEVER) found.push([columns.hop_leaves[hop], -1, hop]);
    }
    return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  };

  // Queues of each link: `all` of it, and those of single classes.
  const queues = (head, columns) => {
    const ports = head.links.map(() => null);
    for (const [time, sign, hop] of changes(columns)) {
      const link = columns.hop_link[hop];
      const packet = columns.hop_packet[hop];
      const name = columns.packet_class[packet];
      ports[link] ??= { link, all: new Queue(link, -1), classes: [] };
      ports[link].classes[name] ??= new Queue(link, name);
      const bytes = sign * columns.packet_wire[packet];
      ports[link].all.add(time, sign, bytes);
      ports[link].classes[name].add(time, sign, bytes);
    }
    return ports.filter(Boolean).map((port) => ({ ...port, classes: port.classes.filter(Boolean) }));
  };

  class Model {
    constructor({ head, columns }) {
      Object.assign(this, { head, columns });
      this.ends = head.ends;
      this.links = byLink(head, columns);
      this.ports = queues(head, columns);
      this.busiest = [...this.ports].sort((a, b) => b.all.most - a.all.most);
      this.longest = this.busiest.length ? this.busiest[0].all.most : 0;
      this.chosen = new Set(head.chosen);
      this.own = this.hopsOfChosen();
      this.visited = 0;
    }

    // Hops of the chosen flows, in the order in which they came to ports.
    hopsOfChosen() {
      const { columns } = this;
      const found = [];
      for (let hop = 0; hop < columns.hop_packet.length; hop += 1) if (this.chosen.has(this.flowOf(hop).id)) found.push(hop);
      return Uint32Array.from(found.sort((a, b) => columns.hop_queued[a] - columns.hop_queued[b] || a - b));
    }

    // Ticks that a packet waited in a port; to the end of the page if it is still there.
    waited(hop) {
      const { hop_leaves: leaves, hop_queued: queued } = this.columns;
      return Math.max(0, (leaves[hop] === NEVER ? this.ends : leaves[hop]) - queued[hop]);
    }

    // The hop of some hops at which a packet waited longest, the first of equal ones; -1 of none.
    longestOf(hops) {
      let best = -1;
      for (const hop of hops) if (best < 0 || this.waited(hop) > this.waited(best)) best = hop;
      return best;
    }

    // The middle of a packet's wait in a port, within the page.
    instantOf(hop) {
      return Math.min(this.ends, this.columns.hop_queued[hop] + this.waited(hop) / 2);
    }

    // The hop at which the traced flow, the first of the chosen ones, waited longest, of those within the page; or -1.
    longestWait() {
      const [traced] = this.head.chosen;
      const { hop_queued: queued } = this.columns;
      return this.longestOf(this.own.filter((hop) => this.flowOf(hop).id === traced && queued[hop] <= this.ends));
    }

    // The hops of a packet along its way.
    hopsOf(packet) {
      const { hop_packet: packets, hop_queued: queued } = this.columns;
      const found = [];
      for (let hop = 0; hop < packets.length; hop += 1) if (packets[hop] === packet) found.push(hop);
      return found.sort((a, b) => queued[a] - queued[b] || a - b);
    }

    // The packets of a flow, in the order in which they were made.
    packetsOf(flow) {
      const found = [];
      this.columns.packet_flow.forEach((nth, packet) => this.head.flows[nth].id === flow && found.push(packet));
      return found;
    }

    // Microseconds since the start of the run.
    us(ticks) {
      return (this.head.from_ps + ticks * this.head.tick_ps) / 1e6;
    }

    ticks(us) {
      return (us * 1e6) / this.head.tick_ps;
    }

    // Calls `see(hop, place)` for each packet on a link; `place` is where its middle is, from 0 to 1.
    onLink(link, time, see) {
      const hops = this.links[link];
      const { hop_leaves: start, hop_flying: flying } = this.columns;
      const first = firstAbove(0, hops.length, time, (i) => start[hops[i]] + flying[hops[i]]);
      for (let i = first; i < hops.length && start[hops[i]] <= time; i += 1) {
        this.visited += 1;
        see(hops[i], (time - start[hops[i]]) / Math.max(1, flying[hops[i]]));
      }
    }

    // Places of the marks from after `from` to `until`.
    marksBetween(from, until) {
      return [above(this.columns.mark_at, from), above(this.columns.mark_at, until)];
    }

    flowOf(hop) {
      return this.head.flows[this.columns.packet_flow[this.columns.hop_packet[hop]]];
    }

    // The place of the last reading of a series up to an instant, or -1.
    readingAt(series, time) {
      const { begin, count } = series;
      const place = firstAbove(begin, begin + count, time, (i) => this.columns.reading_at[i]) - 1;
      return place < begin ? -1 : place;
    }
  }

  Object.assign(window.replay, { Model, above, firstAbove, NEVER });
}
