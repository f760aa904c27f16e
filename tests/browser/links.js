// Random states of the page, and whether they come back from their links.

/** The states, of a number of random ones, that do not come back, with what differs. */
export const roundTrips = (page, count, seed) => page.evaluate(async ({ count, seed }) => {
  const { snap, initial, SETS, GENERATED, NOISE, METHODS, KERNELS, SHOWN } = await import("/state.js");
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const one = (list) => list[Math.floor(random() * list.length)];
  const wrong = [];
  for (let k = 0; k < count; k++) {
    const state = initial();
    if (random() < 0.3) {
      const name = one(Object.keys(SETS));
      const made = GENERATED.includes(name);
      state.data = { kind: "named", name, rows: made && random() < 0.5 ? 2 + Math.floor(random() * 500) : null, seed: made ? Math.floor(random() * 1e6) : 0, noise: made && name in NOISE && random() < 0.5 ? random() : null };
    } else {
      const range = [-random() * 10, random() * 10 + 0.1, -random() * 1e3, random() * 1e-3 + 1e-3];
      const lattice = random() < 0.6;
      const count = Math.floor(random() * 40);
      const labels = ["a", "b", "<b>&=#,;", "ü 3", "x"].slice(0, 2 + Math.floor(random() * 4));
      const value = (low, high) => (lattice ? snap(low + random() * (high - low), low, high) : random() < 0.1 ? -0 : (random() - 0.5) * 10 ** Math.floor(random() * 12 - 6));
      const classes = Array.from({ length: count }, () => Math.floor(random() * labels.length));
      state.data = { kind: "points", xy: classes.map(() => [value(range[0], range[1]), value(range[2], range[3])]), classes, labels, names: random() < 0.5 ? ["x1", "x2"] : ["length, cm", "π"], range };
    }
    Object.assign(state, {
      method: one(Object.keys(METHODS)), compare: random() < 0.3 ? one(Object.keys(METHODS)) : null, kernel: one(Object.keys(KERNELS)),
      gamma: random() < 0.3 ? null : random() * 10 + 1e-6, coef0: random() < 0.5 ? 1 : random() * 4 - 2, degree: 1 + Math.floor(random() * 5),
      c: random() < 0.1 ? null : 10 ** (random() * 6 - 2), loss: one(["hinge", "squared"]), bias: one(["explicit", "folded", "none"]),
      solver: one(["smo", "dual-ascent", null]), positive: random() < 0.2 ? "b=&#" : null, hidden: 1 + Math.floor(random() * 20),
      show: Object.fromEntries(Object.keys(SHOWN).map((flag) => [flag, random() < 0.5])), tab: one(["why", "alpha", "numbers", "lift"]),
      step: random() < 0.3 ? Math.floor(random() * 500) : null, hide: random() < 0.2 ? ["data", "time"] : [], ask: random() < 0.2 ? "Which point? a=b & c#d" : "",
    });
    const { state: back, problems } = window.playground.fromHash(window.playground.hashOf(state));
    // Not JSON, which has no −0.
    const text = (value) => JSON.stringify(value, (_, inner) => (Object.is(inner, -0) ? "-0" : inner));
    if (problems.length > 0 || Object.keys(state).some((key) => text(state[key]) !== text(back[key]))) {
      wrong.push({ k, problems, keys: Object.keys(state).filter((key) => text(state[key]) !== text(back[key])) });
    }
  }
  return wrong.slice(0, 5);
}, { count, seed });
