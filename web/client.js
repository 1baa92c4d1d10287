// SPDX-License-Identifier: MIT
// The page's side of the worker. One that does not answer in time is ended, and another one begins.

const LONGEST = 20000; // milliseconds

export class Client {
  constructor(wasm) {
    this.wasm = wasm; // a promise of its bytes
    this.onRestart = () => {};
    this.begin();
  }

  begin() {
    this.waiting = new Map();
    this.next = 0;
    this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.settle(data);
    this.worker.onerror = (event) => { event.preventDefault(); this.fail("the core stopped"); };
    this.started = this.wasm.then((bytes) => this.send("start", { bytes }));
  }

  settle({ id, value, failure }) {
    const call = this.waiting.get(id);
    if (!call) return;
    this.waiting.delete(id);
    clearTimeout(call.timer);
    if (failure === undefined) call.resolve(value);
    else call.reject(new Error(failure));
  }

  send(call, args) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      const timer = setTimeout(() => this.fail(`this took longer than ${LONGEST / 1000} seconds and was stopped`), LONGEST);
      this.waiting.set(id, { resolve, reject, timer });
      this.worker.postMessage({ id, call, args });
    });
  }

  async call(name, args) {
    await this.started;
    return this.send(name, args);
  }

  // Ends the worker: all that wait are told why, and files have to be dropped again.
  fail(why) {
    this.worker.terminate();
    const waiting = [...this.waiting.values()];
    this.begin();
    for (const call of waiting) {
      clearTimeout(call.timer);
      call.reject(new Error(why));
    }
    this.onRestart();
  }
}
