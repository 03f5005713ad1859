"use strict";
// The time axis: when chosen flows lived, when packets were lost, marked or sent again, and where the replay is.
{
  const { words, above } = window.replay;
  const ROW = 20;
  const FOOT = 24;
  const NEAR = 4;

  class Axis {
    constructor(canvas, model) {
      Object.assign(this, { canvas, model, from: 0, until: model.ends });
      this.rows = this.rowsWithMarks();
      const lines = this.rows.length + model.head.chosen.length;
      canvas.style.height = `${lines * ROW + FOOT + 6}px`;
      this.resize();
    }

    // The rows that have marks: name, and the marks' numbers in order of time.
    rowsWithMarks() {
      const { head, columns } = this.model;
      const lists = head.rows.map(() => []);
      columns.mark_row.forEach((row, nth) => lists[row].push(nth));
      return lists.map((list, row) => ({ row, name: head.rows[row], marks: Uint32Array.from(list) }))
        .filter(({ marks }) => marks.length);
    }

    resize() {
      this.layer = replay.canvas.fit(this.canvas);
      this.left = replay.canvas.gutter(this.layer.width);
      this.still = null;
    }

    zoom(from, until) {
      Object.assign(this, { from, until, still: null });
    }

    get width() {
      return this.layer.width - this.left - replay.canvas.RIGHT;
    }

    x(time) {
      return this.left + ((time - this.from) / (this.until - this.from)) * this.width;
    }

    time(x) {
      const part = Math.min(1, Math.max(0, (x - this.left) / this.width));
      return this.from + part * (this.until - this.from);
    }

    background() {
      const still = replay.canvas.behind(this.layer);
      const { context, height } = still;
      const colour = replay.colours();
      context.font = replay.canvas.font(12);
      this.scale(context, colour, height);
      let top = 2;
      for (const [nth, id] of this.model.head.chosen.entries()) {
        this.life(context, colour, { id, nth, top });
        top += ROW;
      }
      for (const row of this.rows) {
        this.marks(context, colour, { ...row, top });
        top += ROW;
      }
      return still;
    }

    scale(context, colour, height) {
      const { model } = this;
      const [from, until] = [model.us(this.from), model.us(this.until)];
      const [unit, name] = until >= 10_000 ? [1000, "ms"] : [1, "us"];
      context.strokeStyle = colour.rule;
      context.fillStyle = colour.soft;
      context.textAlign = "center";
      context.lineWidth = 1;
      const found = replay.canvas.ticks(from / unit, until / unit, this.width / 90);
      const digits = found.length > 1 ? Math.max(0, -Math.floor(Math.log10(found[1] - found[0]) + 1e-9)) : 0;
      for (const tick of found) {
        const x = this.x(model.ticks(tick * unit) - model.ticks(model.us(0)));
        context.beginPath();
        context.moveTo(x, 0);
        context.lineTo(x, height - FOOT + 4);
        context.stroke();
        context.fillText(words.number(tick, digits), Math.min(x, this.layer.width - 18), height - 7);
      }
      context.textAlign = "right";
      context.fillText(name, this.left - 10, height - 7);
    }

    label(context, colour, text, top) {
      context.fillStyle = colour.ink;
      context.textAlign = "right";
      context.fillText(text, this.left - 10, top + ROW - 6, this.left - 12);
    }

    life(context, colour, { id, nth, top }) {
      const { model } = this;
      const flow = model.head.flows.find((one) => one.id === id);
      const start = (flow.start_ps - model.head.from_ps) / model.head.tick_ps;
      const end = flow.fct_ps === null ? Infinity : start + flow.fct_ps / model.head.tick_ps;
      const [from, until] = [Math.max(start, this.from), Math.min(end, this.until)];
      this.label(context, colour, `flow ${id}`, top);
      if (until <= from) return;
      context.fillStyle = replay.flowColour(nth);
      context.fillRect(this.x(from), top + 6, Math.max(2, this.x(until) - this.x(from)), ROW - 12);
    }

    // Each pixel with marks is a stroke, darker the more there are.
    marks(context, colour, { row, name, marks, top }) {
      this.label(context, colour, name, top);
      const at = this.model.columns.mark_at;
      context.fillStyle = row <= 3 ? colour.bad : row === 6 ? colour.soft : colour.accent;
      let column = -1;
      let many = 0;
      const stroke = () => {
        if (!many) return;
        context.globalAlpha = Math.min(1, 0.7 + 0.1 * Math.log2(many));
        context.fillRect(column - 0.5, top + 3, 1.75, ROW - 6);
      };
      for (const nth of marks) {
        if (at[nth] < this.from || at[nth] > this.until) continue;
        const x = Math.round(this.x(at[nth]));
        if (x !== column) {
          stroke();
          [column, many] = [x, 0];
        }
        many += 1;
      }
      stroke();
      context.globalAlpha = 1;
    }

    draw(time) {
      const { context, width, height } = this.layer;
      this.still ??= this.background();
      context.clearRect(0, 0, width, height);
      replay.canvas.put(this.still, this.layer);
      const x = this.x(time);
      if (x < this.left - 1 || x > width) return;
      context.strokeStyle = replay.colours().ink;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height - FOOT + 4);
      context.stroke();
    }

    hover(x, y) {
      const nth = Math.floor((y - 2) / ROW);
      const { chosen, flows } = this.model.head;
      if (nth < 0 || x < this.left - NEAR) return null;
      if (nth < chosen.length) return this.lifeWords(flows.find((one) => one.id === chosen[nth]));
      const row = this.rows[nth - chosen.length];
      return row ? this.marksWords(row, x) : null;
    }

    lifeWords(flow) {
      const lines = [words.flow(this.model, flow), `started at ${words.us(flow.start_ps / 1e6)}`];
      lines.push(flow.fct_ps === null ? "did not complete" : `completed in ${words.us(flow.fct_ps / 1e6)}`);
      if (flow.timeouts || flow.retransmits) {
        lines.push(`${words.count(flow.timeouts, "timeout")}, ${words.number(flow.retransmits)} sent again`);
      }
      return lines;
    }

    marksWords({ name, marks }, x) {
      const at = this.model.columns.mark_at;
      const times = { length: marks.length };
      const find = (limit) => {
        let [low, high] = [0, times.length];
        while (low < high) {
          const middle = (low + high) >> 1;
          if (at[marks[middle]] > limit) high = middle;
          else low = middle + 1;
        }
        return low;
      };
      const [first, last] = [find(this.time(x - NEAR) - 1), find(this.time(x + NEAR))];
      if (first >= last) return null;
      const others = last - first > 1 ? [`and ${words.number(last - first - 1)} more here: ${name}`] : [];
      return [...words.mark(this.model, marks[first]), ...others];
    }
  }

  Object.assign(window.replay, { Axis, above });
}
