#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a field of the API is not described, or when its description tells another default than the field has, or
# gives an example that is not accepted. Fails when a *.md file refers to what does not exist: the target of a link, or in
# code a path in the repository, a make target, a flag, a metric, a test or a benchmark.
#
# In code, paths are relative to the root of the repository, <kind> stands for any name, and a flag without a program is
# one of modelbox-apiserver, or in hack/localcluster one of localcluster.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0
fail() {
  echo "ERROR: $1"
  failed=1
}

# code_and_links prints the code of a file, "inline" or a line of a "block", and the targets of its links.
code_and_links() {
  awk '
    /^ *```/ { fenced = !fenced; next }
    fenced { print "block\t" $0; next }
    { text = text " " $0 }
    END {
      while (match(text, /`[^`]+`/)) {
        print "inline\t" substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
      }
      while (match(text, /\]\([^)]+\)/)) {
        print "link\t" substr(text, RSTART + 2, RLENGTH - 3)
        text = substr(text, RSTART + RLENGTH)
      }
    }' "$1"
}

# anchors prints what the headings of a file are linked by.
anchors() {
  sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^[:alnum:] _-]//g; s/ /-/g'
}

check_link() { # file target
  local target=${2%%#*} anchor=
  [[ "$2" != *'#'* ]] || anchor=${2#*#}
  [[ ! "$2" =~ ^[a-z]+: ]] || return 0
  if [[ -n "${target}" ]]; then
    target=$(dirname "$1")/${target}
  else
    target=$1
  fi
  if [[ ! -e "${target}" ]]; then
    fail "$1 links to $2, which does not exist"
  elif [[ -n "${anchor}" ]] && ! grep --quiet --line-regexp --fixed-strings -- "${anchor}" <<<"$(anchors "${target}")"; then
    fail "$1 links to $2: ${target} has no such heading"
  fi
}

# matches prints what an extended regular expression matches in a text, one a line.
matches() { # text expression
  if [[ "$1" =~ $2 ]]; then
    grep --only-matching --extended-regexp -- "$2" <<<"$1"
  fi
}

check_code() { # file inline|block code
  local file=$1 code=$3 word program known
  while read -r word; do
    word=$(sed -E 's,^[^.[:alnum:]],,; s,^\./,,; s,<[^>]*>,*,g; s,/?\.\.\.$,,; s,[.:/]+$,,' <<<"${word}")
    compgen -G "${word}" >/dev/null || fail "${file}: there is no ${word}"
  done < <(matches "${code}" "(^|[[:space:]\"'(=])(\\./)?(cmd|pkg|hack|docs|artifacts|\\.ci)/[][:alnum:]_.*<>/-]*")

  while read -r word; do
    grep --quiet "^${word#make }:" Makefile || fail "${file}: the Makefile has no target ${word#make }"
  done < <(matches "${code}" '(^| )make [a-z][a-z0-9-]*' | sed 's/^ //')

  while read -r word; do
    grep --quiet --recursive --fixed-strings --include='*.go' "\"${word}\"" cmd pkg || fail "${file}: there is no metric ${word}"
  done < <(matches "${code}" 'modelbox_(controller|storage|snapshot|store)_[a-z_]+' | sed -E 's/^modelbox_[a-z]*_//; s/_(bucket|count|sum)$//')

  while read -r word; do
    grep --quiet --recursive --extended-regexp --include='*_test.go' "^func ${word}" cmd pkg hack || fail "${file}: there is no ${word}"
  done < <(matches "${code}" "-(run|fuzz)[ =]'?\\^?(Test|Fuzz)[[:alnum:]]+" | sed -E 's/.*(Test|Fuzz)/\1/')

  program=${code#\$ }
  program=$(basename -- "${program%% *}")
  case "${program}" in
    modelbox-apiserver) known=${server_flags} ;;
    localcluster) known=${localcluster_flags} ;;
    --*)
      [[ "$2" == inline ]] || return 0
      known=${server_flags}
      [[ "${file}" != hack/localcluster/* ]] || known=${localcluster_flags}
      ;;
    *) return 0 ;;
  esac
  while read -r word; do
    grep --quiet --line-regexp -- "${word}" <<<"${known}" || fail "${file}: there is no flag ${word}"
  done < <(matches "${code}" '(^| )--[a-z][a-z0-9-]*' | sed 's/^ //')
}

server=_output/tools/modelbox-apiserver
go build -o "${server}" ./cmd/modelbox-apiserver
server_flags=$(for command in "" "snapshot save" "snapshot status" "snapshot restore"; do
  # shellcheck disable=SC2086 # words of a command
  "${server}" ${command} --help | sed -nE 's/^ +(-[a-z], )?(--[a-z0-9-]+).*/\2/p'
done | sort -u)
localcluster_flags=$(sed -nE 's/.*Var\(&[^,]+, "([a-z-]+)".*/--\1/p' hack/localcluster/command/*.go | sort -u)

while read -r file; do
  while IFS=$'\t' read -r kind text; do
    case "${kind}" in
      link) check_link "${file}" "${text}" ;;
      *) check_code "${file}" "${kind}" "${text}" ;;
    esac
  done < <(code_and_links "${file}")
done < <(find . -name '*.md' -not -path './_output/*' -printf '%P\n' | sort)

# docs/fields.md has each field of a box.
spec=$(grep --recursive --files-with-matches '^type ModelBoxSpec struct' pkg/apis/model/v1)
while read -r name; do
  grep --quiet "^| .*\`${name}\`.* |" docs/fields.md || fail "docs/fields.md lacks the field ${name}"
done < <(sed -nE '/^type ModelBoxSpec struct/,/^}/s/.*json:"([[:alnum:]]+).*/\1/p' "${spec}")

go test ./pkg/generated/openapi || failed=1

exit "${failed}"
