// The hook of the loader: functions of the host are those of the double.
const DOUBLE = new URL('./host-double.js', import.meta.url).href;

export async function resolve(specifier, context, next) {
  return specifier.startsWith('phasm:executor/host@') ? { url: DOUBLE, shortCircuit: true } : next(specifier, context);
}
