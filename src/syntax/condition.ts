/** Evaluates `!#if` expressions: `||`, `&&`, `!`, parentheses and words. Only `true` is true: a list has no platform. */

export type ConditionProblem = "empty" | "brackets";

/** Deeper nesting is an error, because it could overflow the stack. */
const MAX_DEPTH = 64;

export function evaluateCondition(text: string): boolean | ConditionProblem {
  if (text.trim() === "") return "empty";
  const tokens = text.match(/\|\||&&|[!()]|[^\s!()&|]+|[&|]/g) ?? [];
  let at = 0;
  let isBroken = false;

  function either(depth: number): boolean {
    let value = both(depth);
    while (tokens[at] === "||") {
      at++;
      const right = both(depth);
      value = value || right;
    }
    return value;
  }

  function both(depth: number): boolean {
    let value = single(depth);
    while (tokens[at] === "&&") {
      at++;
      const right = single(depth);
      value = value && right;
    }
    return value;
  }

  function single(depth: number): boolean {
    let isNegated = false;
    while (tokens[at] === "!") {
      isNegated = !isNegated;
      at++;
    }
    const token = tokens[at++];
    let value = token === "true";
    if (token === "(") {
      if (depth === MAX_DEPTH) {
        isBroken = true;
        at = tokens.length;
        return false;
      }
      value = either(depth + 1);
      if (tokens[at++] !== ")") isBroken = true;
    } else if (token === ")") {
      isBroken = true;
    }
    return value !== isNegated;
  }

  const value = either(0);
  const hasStrayBracket = tokens.slice(at).some((token) => token === "(" || token === ")");
  return isBroken || hasStrayBracket ? "brackets" : value;
}
