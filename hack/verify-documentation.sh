#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a field of the API has no description, or when its description has another default than the field or an example
# that the API rejects. Fails when a *.md file refers to something that does not exist: the target of a link, or in code a path
# in the repository, a make target, a flag, a metric, a test or a benchmark.
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

# anchors are what the headings of each file are linked by, one a line.
declare -A anchors=()
read_anchors() { # file
  [[ ! -v anchors["$1"] ]] || return 0
  anchors["$1"]=$(sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^[:alnum:] _-]//g; s/ /-/g')
}

# has_line returns whether a text has a line.
has_line() { # text line
  [[ $'\n'"$1"$'\n' == *$'\n'"$2"$'\n'* ]]
}

check_link() { # file target
  local target=${2%%#*} anchor=
  [[ "$2" != *'#'* ]] || anchor=${2#*#}
  [[ ! "$2" =~ ^[a-z]+: ]] || return 0
  if [[ -z "${target}" ]]; then
    target=$1
  elif [[ "$1" == */* ]]; then
    target=${1%/*}/${target}
  fi
  if [[ ! -e "${target}" ]]; then
    fail "$1 links to $2, which does not exist"
  elif [[ -n "${anchor}" ]]; then
    read_anchors "${target}"
    has_line "${anchors["${target}"]}" "${anchor}" || fail "$1 links to $2: ${target} has no such heading"
  fi
}

# find_matches sets found to what an extended regular expression matches in a text. It starts no process: there are
# thousands of texts.
find_matches() { # text expression
  local rest=$1
  found=()
  while [[ "${rest}" =~ $2 ]]; do
    found+=("${BASH_REMATCH[0]}")
    rest=${rest#*"${BASH_REMATCH[0]}"}
  done
}

# go_has returns whether a Go file of that name has a line that the expression matches.
declare -A in_go=()
go_has() { # name expression
  if [[ ! -v in_go["$2"] ]]; then
    in_go["$2"]=no
    ! grep --quiet --recursive --extended-regexp --include="$1" -- "$2" cmd pkg hack || in_go["$2"]=yes
  fi
  [[ "${in_go["$2"]}" == yes ]]
}

makefile=$(sed -nE 's/^([a-z0-9-]+):.*/\1/p' Makefile)
path_expression="(^|[[:space:]\"'(=])(\\./)?(cmd|pkg|hack|docs|artifacts|\\.ci)/[][:alnum:]_.*<>/-]*"
test_expression="-(run|fuzz)[ =]'?\\^?(Test|Fuzz)[[:alnum:]]+"

check_code() { # file inline|block code
  local file=$1 code=$3 word program known found
  find_matches "${code}" "${path_expression}"
  for word in "${found[@]}"; do
    word=${word#[!.[:alnum:]]}
    word=${word#./}
    while [[ "${word}" =~ \<[^\>]*\> ]]; do word=${word/"${BASH_REMATCH[0]}"/*}; done
    while [[ "${word}" == *[.:/] ]]; do word=${word%?}; done
    compgen -G "${word}" >/dev/null || fail "${file}: there is no ${word}"
  done

  find_matches "${code}" '(^| )make [a-z][a-z0-9-]*'
  for word in "${found[@]}"; do
    has_line "${makefile}" "${word##* }" || fail "${file}: the Makefile has no target ${word##* }"
  done

  find_matches "${code}" 'modelbox_(controller|storage|snapshot|store)_[a-z_]+'
  for word in "${found[@]}"; do
    word=${word#modelbox_*_}
    [[ ! "${word}" =~ ^(.*)_(bucket|count|sum)$ ]] || word=${BASH_REMATCH[1]}
    go_has '*.go' "\"${word}\"" || fail "${file}: there is no metric ${word}"
  done

  if [[ "$2" == inline && "${code}" =~ ^(Test|Fuzz|Benchmark)[A-Z][[:alnum:]]+$ ]]; then
    go_has '*_test.go' "^func ${code}\\(" || fail "${file}: there is no ${code}"
  fi

  find_matches "${code}" "${test_expression}"
  for word in "${found[@]}"; do
    [[ "${word}" =~ (Test|Fuzz)[[:alnum:]]+$ ]]
    go_has '*_test.go' "^func ${BASH_REMATCH[0]}" || fail "${file}: there is no ${BASH_REMATCH[0]}"
  done

  program=${code#\$ }
  program=${program%% *}
  program=${program##*/}
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
  find_matches "${code}" '(^| )--[a-z][a-z0-9-]*'
  for word in "${found[@]}"; do
    has_line "${known}" "${word# }" || fail "${file}: there is no flag ${word# }"
  done
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
done < <(find . -name '*.md' -not -path './_output/*' -not -path '*/node_modules/*' -printf '%P\n' | sort)

# docs/fields.md has each field of a box.
spec=$(grep --recursive --files-with-matches '^type ModelBoxSpec struct' pkg/apis/model/v1)
while read -r name; do
  grep --quiet "^| .*\`${name}\`.* |" docs/fields.md || fail "docs/fields.md lacks the field ${name}"
done < <(sed -nE '/^type ModelBoxSpec struct/,/^}/s/.*json:"([[:alnum:]]+).*/\1/p' "${spec}")

go test ./pkg/generated/openapi || failed=1

exit "${failed}"
