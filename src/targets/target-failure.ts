/** Why a target failed, and what to do. Contains no secret, and is safe to print. */
export class TargetFailure extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = "TargetFailure";
    this.hint = hint;
  }
}
