#!/usr/bin/env bash
# records.sh restore | save: keeps what log, why and rollback need on the branch rules-compiler-records of the remote, as one
# commit without history, so that the repository does not grow with every run.
set -eo pipefail
branch=rules-compiler-records
if [ "$1" = restore ]; then
  git fetch -q --depth=1 origin "$branch" 2>/dev/null || exit 0
  # Files of the checkout belong to the lists of the checkout.
  git archive FETCH_HEAD | tar -x --skip-old-files
  exit
fi
# Another index than that of the checkout.
GIT_INDEX_FILE=$(mktemp -u)
export GIT_INDEX_FILE
find . -path ./.git -prune -o -type f -path '*/.rules-compiler/*' ! -path '*/.rules-compiler/*/*' ! -name serve.json \
  \( -name '*.zst' -o -name '*.json' -o -name '*.jsonl' \) -print0 | xargs -0 -r git add -f --
tree=$(git write-tree)
rm -f "$GIT_INDEX_FILE"
author=(-c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com')
commit=$(git "${author[@]}" commit-tree "$tree" -m "Records of the lists")
git push -q --force origin "$commit:refs/heads/$branch"
