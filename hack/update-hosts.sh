#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Writes the module file of each host version, hack/hosts/v1.<minor>.mod: the Kubernetes that hack/hosts/versions says, with
# the libraries that Kubernetes was released with. Arguments are the minors to write, all without: hack/update-hosts.sh [v1.33...]

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/hosts"

write_module() { # version [library@version...]
  local version=$1 minor=${1%.*} folder staging library
  shift
  folder=$(GOFLAGS=-mod=mod go mod download -json "k8s.io/kubernetes@${version}" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  staging=v0.${version#v1.}
  {
    echo "// Written by hack/update-hosts.sh."
    grep '^module ' go.mod
    echo
    # The rest as Kubernetes has it: it behaves as built with the Go that it was released with.
    sed -n '/^go /p; /^godebug /p' "${folder}/go.mod"
    echo
    echo "require k8s.io/kubernetes ${version}"
    echo
    sed -n "/^replace (/,/^)/s,=> ./staging/src/\(.*\),=> \1 ${staging}, ; /^replace (/,/^)/p" "${folder}/go.mod" | awk '!seen[$0]++'
  } >"${minor}.mod"
  for library in "$@"; do
    go mod edit -replace "k8s.io/${library%@*}=k8s.io/${library}" "${minor}.mod"
  done
  : >"${minor}.sum"
  go mod tidy -modfile "${minor}.mod"
}

while read -r version libraries; do
  if [[ $# == 0 || " $* " == *" ${version%.*} "* ]]; then
    echo "writing hack/hosts/${version%.*}.mod"
    # shellcheck disable=SC2086 # a list
    write_module "${version}" ${libraries}
  fi
done <versions
