/** As much of `node:timers/promises` as the engine uses. A message is the browser's shortest way through its event loop. */
export async function setImmediate(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise<void>((turned) => {
    port1.addEventListener("message", () => turned());
    port1.start();
    port2.postMessage(undefined);
  });
  port1.close();
}
