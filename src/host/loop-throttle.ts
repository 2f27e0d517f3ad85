/** Limits how many waiting tasks continue per turn of the event loop, first come, first served. */
export class LoopThrottle {
  private readonly most: number;
  private readonly waiting: (() => void)[] = [];
  private isDue = false;

  constructor(most: number) {
    this.most = most;
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.plan();
    });
  }

  private plan(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      for (const resolve of this.waiting.splice(0, this.most)) resolve();
      if (this.waiting.length > 0) this.plan();
    });
  }
}
