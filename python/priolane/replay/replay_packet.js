"use strict";
// One packet in words: whose it is, what it carries, and where it waited on its way. It is chosen by a click on a packet,
// or by the buttons, which go along the packets of the traced flow.
{
  const { words } = window.replay;
  const get = (id) => document.getElementById(id);

  const item = (text, isMost) => {
    const line = document.createElement(isMost ? "strong" : "span");
    line.textContent = text;
    const found = document.createElement("li");
    found.append(line);
    return found;
  };

  class PacketPanel {
    // `seen` is called with the instant at which a packet that the buttons choose waits longest, or `null`.
    constructor(model, seen) {
      Object.assign(this, { model, seen, packet: null });
      this.own = model.packetsOf(model.head.chosen[0]);
      get("packet-next").addEventListener("click", () => this.step(1));
      get("packet-before").addEventListener("click", () => this.step(-1));
      get("packet-close").addEventListener("click", () => this.close());
      for (const id of ["packet-next", "packet-before"]) get(id).disabled = !this.own.length;
    }

    // Shows a packet by its number.
    choose(packet) {
      const { model } = this;
      this.packet = packet;
      get("packet").hidden = false;
      const hops = model.hopsOf(packet);
      const longest = model.longestOf(hops);
      get("packet-title").textContent = `Packet: ${words.packet(model, packet)}`;
      get("packet-about").textContent = words.packetLine(model, packet);
      get("packet-hops").replaceChildren(
        ...hops.map((hop) => item(words.way(model, hop), hop === longest && model.waited(hop) > 0)),
      );
    }

    close() {
      this.packet = null;
      get("packet").hidden = true;
      this.seen(null);
    }

    // To the next packet of the traced flow, or the one before; to its first if another flow's is shown.
    step(sign) {
      if (!this.own.length) return;
      const nth = this.own.indexOf(this.packet);
      const next = nth < 0 ? 0 : Math.max(0, Math.min(this.own.length - 1, nth + sign));
      this.choose(this.own[next]);
      const { model } = this;
      this.seen(model.instantOf(model.longestOf(model.hopsOf(this.own[next]))));
    }
  }

  window.replay.PacketPanel = PacketPanel;
}
