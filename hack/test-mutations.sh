#!/usr/bin/env bash
# SPDX-FileCopyrightText: The ModelBox Authors
# SPDX-License-Identifier: Apache-2.0

# Makes small changes to the code that decides, one at a time, and fails if no test notices a change that hack/mutants.list does not list.
# The arguments select packages, such as pkg/apply. By default, it changes all of them.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The packages that decide, and the packages with their tests.
declare -A tests=(
  [pkg/admission/workloadpermission]="./pkg/admission/workloadpermission"
  [pkg/apply]="./pkg/apply,./pkg/controller/children,./pkg/controller/modelbox,./pkg/controller/modelstack,./pkg/controller/serviceingress"
  [pkg/controller/modelbox/status]="./pkg/controller/modelbox"
  [pkg/controller/modelstack]="./pkg/controller/modelstack"
  [pkg/storage/recovery]="./pkg/storage/recovery"
)
# The files that decide, if others of the package do not.
declare -A files=(
  [pkg/apply]="adoption.go,owners.go,plan.go,retention.go,step.go"
)

mapfile -t packages < <(printf '%s\n' "${!tests[@]}" | sort)
if [[ $# -gt 0 ]]; then packages=("$@"); fi

hack/go-build.sh hack/tools ./mutants _output/tools/mutants
failed=0
for package in "${packages[@]}"; do
  echo "mutants of ${package}"
  _output/tools/mutants -accepted hack/mutants.list -files "${files[${package}]:-}" -tests "${tests[${package}]}" "./${package}" || failed=1
done
exit "${failed}"
