// Stands in for the host where there is none.
export const recorder = {
  begin() {
    this.log = [];
    this.progress = [];
    this.heartbeats = 0;
  },
  taken() {
    const { log, progress, heartbeats } = this;
    return { log, progress, heartbeats };
  },
};
recorder.begin();

export const log = (level, text) => recorder.log.push({ level, text });
export const progress = (fraction, text) => recorder.progress.push({ fraction: fraction ?? null, text });
export const heartbeat = () => {
  recorder.heartbeats += 1;
};
