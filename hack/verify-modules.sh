#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Fails when a module below hack has another version of a library than the product. What both have in the same version, and
# with the same flags, is compiled once.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Modules that follow others than the product, and why.
declare -A exceptions=(
  [hack/hosts]="each of its files is of another Kubernetes"
  [hack/kro]="has the versions that kro is released with"
  [hack/argocd]="has the versions that Argo CD is released with"
  [hack/argorollouts]="has the versions that Argo Rollouts is released with"
  [hack/k9s]="has the versions that k9s is released with"
  [hack/velero]="has the versions that Velero is released with"
  [hack/gatekeeper]="has the versions that Gatekeeper is released with"
  [hack/kyverno]="has the versions that Kyverno is released with"
  [hack/certmanager]="has the versions that cert-manager is released with"
  [hack/signing]="has the versions that sigstore is released with"
)

# versions prints the versions of the shared libraries of a module, direct and indirect ones, one a line.
versions() { # folder
  sed -nE 's,^(require)?[[:space:]]+([^ ]+) v[^ ]+( // indirect)?$,\2,p' "$1/go.mod" |
    (cd "$1" && xargs go list -m -f '{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}') |
    sort
}

failed=0
product=$(versions .)
for file in hack/*/go.mod; do
  folder=${file%/go.mod}
  [[ ! -v exceptions["${folder}"] ]] || continue
  while read -r library ours theirs; do
    if [[ "${ours}" != "${theirs}" ]]; then
      echo "ERROR: ${folder} has ${library} ${theirs}, and the product ${ours}"
      failed=1
    fi
  done < <(join <(echo "${product}") <(versions "${folder}"))
done
exit "${failed}"
