#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a page or the Go files of a directory have more words of hack/prose/words.txt than hack/prose/counts.txt allows, which is
# none by default. It prints the file, the line, the word and the words to write instead. With -update it lowers the counts to the
# words that the files have.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

prose=${PWD}/_output/tools/prose
(cd hack/tools && go build -o "${prose}" ./prose)

# Scripts write these pages from the output of programs.
written='^docs/((plugin|k9s)-session\.md|performance/)'

{
  find . -name '*.md' -not -path './_output/*' -not -path '*/node_modules/*' -printf '%P\n' | grep --invert-match --extended-regexp "${written}"
  find cmd hack pkg -name '*.go' -not -name 'zz_generated.*' -not -path 'hack/tools/prose/*' -not -path 'pkg/generated/[acil]*/*'
} | sort | "${prose}" "$@" hack/prose/words.txt hack/prose/counts.txt
