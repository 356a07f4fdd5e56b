// Browsers start no worker for a page that is opened from a folder. There, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      window.addEventListener("message", (event) => {
        if (event.source === this.frame.contentWindow)
          this.dispatchEvent(new MessageEvent("message", {data: event.data}));
      });
      this.loaded = new Promise((done) => {
        const page = this.frame.contentDocument;
        const script = page.createElement("script");
        this.frame.contentWindow.postMessage = (data) => window.dispatchEvent(
          new MessageEvent("message", {data, source: this.frame.contentWindow}));
        script.src = url;
        script.onload = done;
        page.body.append(script);
      });
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
