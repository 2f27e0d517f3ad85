#!/usr/bin/env bash
# Commits the files of FILES, one per line, with the state of their lists, and pushes the branch. Does nothing if no file changed.
set -eo pipefail
if [ -z "$FILES" ]; then exit 0; fi
while IFS= read -r file; do
  if [ -e "$file" ]; then git add -A -- "$file"; fi
  # Parts and patches that only earlier versions had.
  folder=$(dirname -- "$file")
  if [ "$folder" != . ]; then git ls-files --deleted -z -- "$folder" | xargs -0 -r git rm -q --cached --; fi
done <<< "$FILES"
if git diff --cached --quiet; then exit 0; fi
while IFS= read -r file; do
  kept="$(dirname -- "$file")/.rules-compiler/$(basename -- "$file").json"
  if [ -f "$kept" ]; then git add -f -- "$kept"; fi
done <<< "$FILES"
git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' commit -q -m "${TITLE:-Compile the lists}"
git push --set-upstream origin HEAD
