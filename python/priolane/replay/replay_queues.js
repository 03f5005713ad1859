"use strict";
// The longest queues: a bar for each port, its part of each class in that class's colour.
{
  const { words } = window.replay;
  const ROW = 22;
  const MOST = 8;

  class Queues {
    constructor(canvas, model) {
      Object.assign(this, { canvas, model, ports: model.busiest.slice(0, MOST) });
      canvas.style.height = `${Math.max(1, this.ports.length) * ROW + 4}px`;
      this.resize();
    }

    resize() {
      this.layer = replay.canvas.fit(this.canvas);
      this.left = replay.canvas.gutter(this.layer.width);
    }

    draw(time) {
      const { context, width, height } = this.layer;
      const colour = replay.colours();
      const room = width - this.left - 70;
      context.clearRect(0, 0, width, height);
      context.font = replay.canvas.font(12);
      this.ports.forEach((port, nth) => {
        const top = nth * ROW + 2;
        context.fillStyle = colour.ink;
        context.textAlign = "right";
        context.fillText(this.model.head.links[port.link].port, this.left - 10, top + 15, this.left - 12);
        context.fillStyle = colour.ground;
        context.fillRect(this.left, top + 3, (port.all.most / this.model.longest) * room, ROW - 6);
        let x = this.left;
        let held = 0;
        for (const queue of port.classes) {
          const { bytes } = queue.at(time);
          const wide = (bytes / this.model.longest) * room;
          context.fillStyle = replay.classColour(queue.class);
          context.fillRect(x, top + 3, wide, ROW - 6);
          x += wide;
          held += bytes;
        }
        if (held > 0) {
          context.fillStyle = colour.ink;
          context.textAlign = "left";
          context.fillText(words.bytes(held), x + 6, top + 15);
        }
      });
    }

    hover(y, time) {
      const port = this.ports[Math.floor((y - 2) / ROW)];
      return port ? words.port(this.model, port, time) : null;
    }
  }

  window.replay.Queues = Queues;
}
