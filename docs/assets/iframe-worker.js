// Search runs in a worker, and browsers start none for pages that are opened from files. There, a hidden frame takes its place:
// the frame loads the worker's script, and messages go through functions of both windows.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      inner.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve())
      this.ready = this.load(url)
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script")
        script.src = new URL(url, document.baseURI).href
        script.onload = resolve
        script.onerror = () => reject(new Error(`cannot load ${script.src}`))
        this.frame.contentDocument.body.appendChild(script)
      })
    }

    postMessage(data) {
      const inner = this.frame.contentWindow
      this.ready.then(() => inner.dispatchEvent(new inner.MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }

  // Scripts of the theme look for this name in the parent window.
  window.IFrameWorker = IFrameWorker
  window.Worker = IFrameWorker
}
