// The one clock of all charts: which steps are in view, which are marked, where the pointer is.

const clock = {
  home: DATA.span && DATA.span[0] < DATA.span[1] ? DATA.span : DATA.span && [DATA.span[0] - 1, DATA.span[1] + 1],
  view: null,
  marked: null, // what a finding points at
  charts: [], // uPlot charts whose x axis is the step
  watchers: [], // called with the step under the pointer, or null
  told: [], // called when the view changes

  show(from, to) {
    if (!this.home || !(to > from)) return;
    this.view = [Math.max(from, this.home[0]), Math.min(to, this.home[1])];
    if (!(this.view[1] > this.view[0])) this.view = [...this.home];
    for (const chart of this.charts) chart.setScale("x", { min: this.view[0], max: this.view[1] });
    for (const tell of this.told) tell();
  },

  reset() {
    this.marked = null;
    if (this.home) this.show(...this.home);
  },

  get zoomed() {
    return this.home && (this.view[0] > this.home[0] || this.view[1] < this.home[1]);
  },

  /** Mark a stretch and come near enough to see it, with some of what lies around it. */
  point(from, to) {
    if (!this.home) return;
    this.marked = [from, to];
    const whole = this.home[1] - this.home[0];
    const around = Math.max(0.5 * (to - from), 0.05 * whole);
    this.show(from - around, to + around);
    this.redraw();
  },

  hover(step) {
    for (const watch of this.watchers) watch(step);
  },

  redraw() {
    for (const chart of this.charts) chart.redraw(false, false);
  },

  steps(id) {
    if (!this.unpacked[id]) {
      let last = 0;
      this.unpacked[id] = DATA.clocks[id].map((distance) => (last += distance));
    }
    return this.unpacked[id];
  },
  unpacked: [],
};
clock.view = clock.home && [...clock.home];

/** The place of the entry of a sorted list that is nearest to a value. */
function nearest(sorted, value) {
  let low = 0;
  let high = sorted.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle;
    else high = middle;
  }
  return Math.abs(sorted[high] - value) < Math.abs(sorted[low] - value) ? high : low;
}

/** The value of a polygon at x; null outside it. */
function along(xs, ys, x) {
  if (!xs.length || x < xs[0] || x > xs[xs.length - 1]) return null;
  let place = nearest(xs, x);
  if (xs[place] > x) place -= 1;
  if (place >= xs.length - 1) return ys[xs.length - 1];
  const share = (x - xs[place]) / (xs[place + 1] - xs[place] || 1);
  return ys[place] + share * (ys[place + 1] - ys[place]);
}
