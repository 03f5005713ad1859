"use strict";
// What senders of chosen flows know, as lines over the time of the axis: windows in bytes, tokens, delays.
{
  const { words } = window.replay;
  const FOOT = 6;
  const HEAD = 8;
  const DASHES = [[], [5, 3], [1, 3], [8, 3, 1, 3]];

  const isMicroseconds = ({ metric }) => metric.endsWith("_ps");
  // Groups of metrics that have one unit, in the order in which they are offered.
  const GROUPS = [
    { name: "windows, bytes", holds: ({ metric }) => metric.endsWith("_bytes") && metric !== "acked_bytes", unit: words.bytes },
    { name: "tokens and packets", holds: ({ metric }) => /tokens|pulls|_packets$/.test(metric), unit: (value) => words.number(value) },
    { name: "delays", holds: isMicroseconds, unit: words.span },
    { name: "bytes acknowledged", holds: ({ metric }) => metric === "acked_bytes", unit: words.bytes },
    { name: "rates, bit/s", holds: ({ metric }) => metric.endsWith("_bps"), unit: (value) => words.number(value) },
  ];
  const REST = { name: "other", holds: ({ metric }) => !GROUPS.some((one) => one.holds({ metric })), unit: (value) => String(Number(value.toPrecision(3))) };

  class Lines {
    constructor(canvas, axis, model) {
      Object.assign(this, { canvas, axis, model });
      this.groups = [...GROUPS, REST].filter((group) => model.head.series.some(group.holds));
      this.choose(0);
    }

    choose(nth) {
      this.group = this.groups[nth] ?? null;
      this.series = this.group ? this.model.head.series.filter(this.group.holds) : [];
      const metrics = [...new Set(this.series.map(({ metric }) => metric))];
      const { reading_value: values } = this.model.columns;
      this.most = 0;
      this.series = this.series.map((one) => {
        const scale = isMicroseconds(one) ? 1e-6 : 1;
        for (let i = one.begin; i < one.begin + one.count; i += 1) this.most = Math.max(this.most, values[i] * scale);
        const nth = this.model.head.chosen.indexOf(one.flow);
        return { ...one, scale, nth, dash: DASHES[metrics.indexOf(one.metric) % DASHES.length] };
      });
      this.resize();
    }

    resize() {
      this.layer = replay.canvas.fit(this.canvas);
      this.still = null;
    }

    y(value) {
      const room = this.layer.height - HEAD - FOOT;
      return this.layer.height - FOOT - (value / (this.most || 1)) * room;
    }

    background() {
      const still = replay.canvas.behind(this.layer);
      const { context, width, height } = still;
      const colour = replay.colours();
      context.font = replay.canvas.font(12);
      context.textAlign = "right";
      context.lineWidth = 1;
      for (const tick of replay.canvas.ticks(0, this.most, height / 45)) {
        context.strokeStyle = colour.rule;
        context.beginPath();
        context.moveTo(this.axis.left, this.y(tick));
        context.lineTo(width - replay.canvas.RIGHT, this.y(tick));
        context.stroke();
        context.fillStyle = colour.soft;
        context.fillText(this.group.unit(tick), this.axis.left - 10, this.y(tick) + 4);
      }
      context.save();
      context.beginPath();
      context.rect(this.axis.left, 0, this.axis.width, height);
      context.clip();
      for (const one of this.series) this.line(context, one);
      context.restore();
      return still;
    }

    // Steps: a reading holds until the next. Of readings within a pixel only the least and the most are drawn.
    line(context, { begin, count, scale, nth, dash }) {
      const { reading_at: at, reading_value: values } = this.model.columns;
      context.strokeStyle = replay.flowColour(nth);
      context.lineWidth = 1.75;
      context.setLineDash(dash);
      context.beginPath();
      let column = null;
      const end = () => {
        if (!column) return;
        for (const value of [column.first, column.least, column.most, column.last]) context.lineTo(column.x, this.y(value));
      };
      for (let i = begin; i < begin + count; i += 1) {
        const x = Math.round(this.axis.x(at[i]));
        const value = values[i] * scale;
        if (column && x === column.x) {
          Object.assign(column, { least: Math.min(column.least, value), most: Math.max(column.most, value), last: value });
          continue;
        }
        end();
        if (column) context.lineTo(x, this.y(column.last));
        else context.moveTo(x, this.y(value));
        column = { x, first: value, least: value, most: value, last: value };
      }
      end();
      context.stroke();
      context.setLineDash([]);
    }

    draw(time) {
      const { context, width, height } = this.layer;
      context.clearRect(0, 0, width, height);
      if (!this.group) return;
      this.still ??= this.background();
      replay.canvas.put(this.still, this.layer);
      const x = this.axis.x(time);
      if (x < this.axis.left - 1 || x > width) return;
      context.strokeStyle = replay.colours().ink;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height);
      context.stroke();
    }

    // The readings at an instant, a line for each series.
    hover(time) {
      const read = this.series.map((one) => {
        const place = this.model.readingAt(one, time);
        if (place < 0) return null;
        const value = this.model.columns.reading_value[place] * one.scale;
        return `flow ${one.flow} ${one.metric.replace(/_(bytes|ps)$/, "")}: ${this.group.unit(value)}`;
      });
      const found = read.filter(Boolean);
      return found.length ? [words.us(this.model.us(time)), ...found] : null;
    }
  }

  window.replay.Lines = Lines;
}
