#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a Go file is not formatted, lacks the license header, or a go.mod is not tidy.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=0

unformatted=$(gofmt -l cmd hack pkg)
if [[ -n "${unformatted}" ]]; then
  echo "ERROR: not formatted, run gofmt -w on:"
  echo "${unformatted}"
  failed=1
fi

header=$(head -2 hack/boilerplate.go.txt)
while read -r file; do
  if [[ "$(head -2 "${file}")" != "${header}" ]]; then
    echo "ERROR: ${file} does not begin with the lines of hack/boilerplate.go.txt"
    failed=1
  fi
done < <(find cmd hack pkg -name '*.go' -not -name 'zz_generated.*')

while read -r module; do
  (cd "$(dirname "${module}")" && go mod tidy -diff) || { echo "ERROR: ${module} is not tidy, run: go mod tidy"; failed=1; }
# The modules of hosts are written tidy by hack/update-hosts.sh. To look again takes the sources of several Kubernetes, and for the
# modules of other programs the clients of several clouds.
done < <(find . -name go.mod | grep --invert-match --extended-regexp '^\./(_output|hack/(hosts|argocd|argorollouts|gatekeeper|k9s|kyverno|velero))/')

exit "${failed}"
