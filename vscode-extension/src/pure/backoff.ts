/** How long to wait before the server is started again, and when to give up. */

export const FIRST_DELAY = 1000;
export const LONGEST_DELAY = 60_000;
/** A server that has lived so long starts with a clean slate. */
export const GOOD_LIFE = 180_000;
export const MOST_CRASHES = 6;

export class Backoff {
  private crashes = 0;
  private startedAt = 0;

  /** The server has been started. */
  started(now: number): void {
    this.startedAt = now;
  }

  /** The server has ended by itself: milliseconds to wait, or undefined to give up. */
  crashed(now: number): number | undefined {
    if (this.startedAt > 0 && now - this.startedAt >= GOOD_LIFE) {
      this.crashes = 0;
    }
    this.crashes += 1;
    this.startedAt = 0;
    if (this.crashes > MOST_CRASHES) {
      return undefined;
    }
    return Math.min(FIRST_DELAY * 2 ** (this.crashes - 1), LONGEST_DELAY);
  }

  /** A person has asked for a start. */
  reset(): void {
    this.crashes = 0;
  }
}
