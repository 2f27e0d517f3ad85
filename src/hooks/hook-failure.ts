/** Why a hook failed. Its message contains no secret. */
export class HookFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "HookFailure";
  }
}
