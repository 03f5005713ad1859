"use strict";
// Numbers and things in words.
{
  const number = (value, digits = 0) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const us = (value) => `${number(value, 3)} us`;
  // Up to three significant digits, with a unit that fits.
  const scaled = (value, units) => {
    const [scale, unit] = units.findLast(([least]) => Math.abs(value) >= least) ?? units[0];
    const shown = value / scale;
    return `${Number(shown.toPrecision(3)).toLocaleString("en-US")} ${unit}`;
  };
  const bytes = (value) => scaled(value, [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"]]);
  const span = (value) => scaled(value, [[1e-3, "ns"], [1, "us"], [1e3, "ms"], [1e6, "s"]]);
  const count = (many, one) => `${number(many)} ${one}${many === 1 ? "" : "s"}`;

  const flow = (model, one) => {
    const name = (host) => model.head.nodes[host].name;
    const size = one.bytes === null ? "without end" : bytes(one.bytes);
    return `flow ${one.id}: ${name(one.src)} to ${name(one.dst)}, ${size}`;
  };

  // What a packet carries, as the timeline of `priolane trace` says it.
  const packet = (model, nth) => {
    const { columns, head } = model;
    const kind = head.kinds[columns.packet_kind[nth]];
    const offset = columns.packet_offset[nth];
    const again = columns.packet_again[nth] ? " again" : "";
    if (kind === "data") return `data ${number(offset)}..${number(offset + columns.packet_payload[nth])}${again}`;
    return kind === "ack" ? `ack ${number(offset)}${again}` : kind + again;
  };

  const ends = { dropped: "dropped", expired: "expired", lost: "lost on the link", waiting: "waits to the end" };

  // A packet at a port, in lines.
  const hop = (model, nth) => {
    const { columns, head } = model;
    const of = columns.hop_packet[nth];
    const fate = head.fates[columns.hop_fate[nth]];
    const waited = columns.hop_leaves[nth] - columns.hop_queued[nth];
    const lines = [
      `${packet(model, of)}, ${number(columns.packet_wire[of])} B, class ${columns.packet_class[of]}`,
      flow(model, model.flowOf(nth)),
      `at ${head.links[columns.hop_link[nth]].port} from ${us(model.us(columns.hop_queued[nth]))}` +
        `, with ${count(columns.hop_ahead[nth], "packet")} in the queues of the port`,
    ];
    if (nth < head.sent) lines.push(`waited ${span((waited * head.tick_ps) / 1e6)}, sent at ${us(model.us(columns.hop_leaves[nth]))}`);
    if (columns.hop_marked[nth]) lines.push("marked here (CE)");
    if (ends[fate]) lines.push(ends[fate]);
    return lines;
  };

  // A packet in a line: whose it is, its class and size, and how long it took.
  const packetLine = (model, nth) => {
    const { columns, head } = model;
    const [made, delivered] = [columns.packet_made[nth], columns.packet_delivered[nth]];
    const took = delivered === window.replay.NEVER
      ? "not delivered on this page"
      : `delivered after ${span(((delivered - made) * head.tick_ps) / 1e6)}`;
    const whose = flow(model, head.flows[columns.packet_flow[nth]]);
    return `${whose}. Class ${columns.packet_class[nth]}, ${number(columns.packet_wire[nth])} B; made at ${us(model.us(made))}, ${took}.`;
  };

  // A port on the way of a packet, in a line.
  const way = (model, nth) => {
    const { columns, head } = model;
    const fate = head.fates[columns.hop_fate[nth]];
    const waited = span((model.waited(nth) * head.tick_ps) / 1e6);
    // Those of all classes: a packet of a better class overtakes.
    const queued = count(columns.hop_ahead[nth], "packet");
    return [
      `${head.links[columns.hop_link[nth]].port}: waited ${waited} from ${us(model.us(columns.hop_queued[nth]))}, with ${queued} in the queues of the port`,
      ...(columns.hop_marked[nth] ? ["marked here (CE)"] : []),
      ...(ends[fate] ? [ends[fate]] : []),
    ].join("; ");
  };

  const mark = (model, nth) => {
    const { columns, head } = model;
    const what = `${us(model.us(columns.mark_at[nth]))}: ${head.rows[columns.mark_row[nth]]}`;
    const place = columns.mark_hop[nth];
    return [what, ...(place ? hop(model, place - 1) : [flow(model, head.flows[columns.mark_flow[nth]])])];
  };

  const port = (model, one, time) => {
    const held = one.all.at(time);
    const classes = one.classes
      .map((queue) => ({ name: queue.class, ...queue.at(time) }))
      .filter((queue) => queue.packets > 0)
      .map((queue) => `class ${queue.name}: ${count(queue.packets, "packet")}, ${bytes(queue.bytes)}`);
    const link = model.head.links[one.link];
    return [
      `queue of ${link.port}, ${scaled(link.rate_bps, [[1, "bit/s"], [1e6, "Mbit/s"], [1e9, "Gbit/s"]])}`,
      `${count(held.packets, "packet")}, ${bytes(held.bytes)}; at most ${bytes(one.all.most)}`,
      ...classes,
    ];
  };

  window.replay.words = { number, us, bytes, span, count, flow, packet, packetLine, way, hop, mark, port };
}
