#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds Argo Rollouts, which the benchmarks compare rollouts with, and puts the definitions of its kinds beside it:
# hack/build-argo-rollouts.sh <folder>

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$1
hack/go-build.sh hack/argorollouts github.com/argoproj/argo-rollouts/cmd/rollouts-controller "${folder}/argo-rollouts" -ldflags '-s -w'
module=$(cd hack/argorollouts && go list -m -f '{{.Dir}}' github.com/argoproj/argo-rollouts)
# Each file begins without a separator.
for file in "${module}"/manifests/crds/*-crd.yaml; do
  echo ---
  cat "${file}"
done >"${folder}/argo-rollouts-definitions.yaml"
