"use strict";
// Reads the columns that columns.py has packed into the page: base64, deflate, byte planes, differences.
{
  const KINDS = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float64: Float64Array };

  const inflate = async (text) => {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  const column = (raw, begin, [, type, count, isDifferences]) => {
    const values = new KINDS[type](count);
    const size = values.BYTES_PER_ELEMENT;
    const bytes = new Uint8Array(values.buffer);
    for (let plane = 0; plane < size; plane += 1) {
      const from = begin + plane * count;
      for (let i = 0; i < count; i += 1) bytes[i * size + plane] = raw[from + i];
    }
    if (isDifferences) for (let i = 1; i < count; i += 1) values[i] += values[i - 1];
    return values;
  };

  // The head of the page and its columns by name.
  const read = async () => {
    const head = JSON.parse(document.getElementById("head").textContent);
    const raw = await inflate(document.getElementById("columns").textContent.trim());
    const columns = {};
    let begin = 0;
    for (const where of head.columns) {
      columns[where[0]] = column(raw, begin, where);
      begin += columns[where[0]].byteLength;
    }
    return { head, columns };
  };

  window.replay = { read };
}
