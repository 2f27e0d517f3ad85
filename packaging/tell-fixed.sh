#!/usr/bin/env bash
# Tells the issues that decisions refer to in which build they are fixed, and closes them. Each is told once: one that a person opens again stays open.
set -eo pipefail
fixed=$(mktemp -d)
FIXED=$fixed node "$GITHUB_ACTION_PATH/packaging/triage.mjs"
for answer in "$fixed"/*.md; do
  [ -e "$answer" ] || break
  number=$(basename "$answer" .md)
  told='.state == "CLOSED" or any(.comments[]; .body | startswith("Fixed in build "))'
  if ! told=$(gh issue view "$number" --json state,comments --jq "$told"); then
    echo "::notice::Issue $number is not told that it is fixed: the job needs the permission issues: write"
  elif [ "$told" = false ]; then
    gh issue comment "$number" --body-file "$answer"
    gh issue close "$number"
  fi
done
rm -rf "$fixed"
