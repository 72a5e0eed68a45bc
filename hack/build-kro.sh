#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Builds kro, which the benchmarks compare the server with, and puts the definitions of its own kinds beside it:
# hack/build-kro.sh <folder>

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$1
hack/go-build.sh hack/kro github.com/kubernetes-sigs/kro/cmd/controller "${folder}/kro" -ldflags '-s -w'
module=$(cd hack/kro && go list -m -f '{{.Dir}}' github.com/kubernetes-sigs/kro)
cat "${module}"/helm/crds/*.yaml >"${folder}/kro-definitions.yaml"
