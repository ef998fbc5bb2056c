/**
 * Starts to measure work, and returns what tells the processor time that this process spent since, in milliseconds. Unlike
 * time by the clock it is the same while others work on the machine.
 */
export function startProcessorTime(): () => number {
  const started = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1000;
  };
}
