/** Diagnostics of proofs: of `prove`, and after a build with `--permit hooks`. */
export const RESOLVER_CODES = {
  "no-resolvers": {
    exit: 2,
    meaning: "The configuration, or the lists that `--filter` selects, have no `resolvers`.",
    hint: "Add resolvers: [192.0.2.53] to the configuration, with the address of your resolver",
  },
  "not-published": {
    exit: 2,
    meaning: "`prove` needs a published list, but its file does not exist.",
    hint: "Compile the list first; use the same -o and RULES_DIR",
  },
  "resolver-stale": {
    exit: 12,
    meaning: "A resolver still answers from an earlier build of the list.",
    hint: "Reload the resolver, and check that it reads the file that was published",
  },
  "resolver-unfiltered": {
    exit: 12,
    meaning: "A resolver does not block the names of the list.",
    hint: "Check in its log whether it loaded the list, and that its configuration uses it",
  },
  "resolver-wrong": {
    exit: 12,
    meaning:
      "A resolver blocks some names of your own files and not others, blocks names of `allow`, or answers from another list.",
    hint: "Check that it reads the right file and loaded it completely, which other lists it uses, and that a secondary is not ahead of its primary (compare the serials)",
  },
  "resolver-unreachable": {
    exit: 12,
    meaning: "A resolver does not answer, or answers every question with an error.",
    hint: "Check that it runs, its address and port, the firewall, and whether it permits this client",
  },
  "proof-rollback": {
    meaning:
      "More than half of the resolvers that answered from the list before did not answer from the new one, so the one before was published again (`on_failure: rollback`).",
    hint: "Find out why the resolvers could not use the new list; the next runs try it again, at most three times a day",
  },
  "proof-put-back": {
    meaning:
      "After a rollback, the resolvers did not answer from the old list either, so the new one was published again: it is not the cause.",
    hint: "Check why the resolvers do not load the published file",
  },
  "no-proved-build": {
    exit: 12,
    meaning:
      "A resolver does not answer from the new list, and the last proved build cannot be published again, because it is no longer stored.",
    hint: "Check the resolver, or publish another build: rules-compiler log lists them",
  },
} as const;
