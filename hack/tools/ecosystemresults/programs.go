// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// program is a program or a library that the tests run.
type program struct {
	name string
	// module is the directory of the Go module that has the program, and library is the path of the program in it.
	module, library string
	// tests is how the names of its tests begin.
	tests   string
	version string
}

var knownPrograms = []program{
	{name: "Argo CD", module: "argocd", library: "github.com/argoproj/argo-cd/v3", tests: "TestArgoCD"},
	{name: "controller-runtime", module: "clients", library: "sigs.k8s.io/controller-runtime", tests: "TestControllerRuntime"},
	{name: "Flux (package ssa)", module: "clients", library: "github.com/fluxcd/pkg/ssa", tests: "TestFlux"},
	{name: "Gatekeeper", module: "gatekeeper", library: "github.com/open-policy-agent/gatekeeper/v3", tests: "TestGatekeeper"},
	{name: "Helm", module: "clients", library: "helm.sh/helm/v4", tests: "TestHelm"},
	{name: "k9s", module: "k9s", library: "github.com/derailed/k9s", tests: "TestK9s"},
	{name: "kstatus", module: "clients", library: "sigs.k8s.io/cli-utils", tests: "TestKStatus"},
	{name: "Kyverno", module: "kyverno", library: "github.com/kyverno/kyverno", tests: "TestKyverno"},
	{name: "stern", module: "stern", library: "github.com/stern/stern", tests: "TestStern"},
	{name: "ValidatingAdmissionPolicy", module: "clients", library: "k8s.io/apiserver", tests: "TestPolicies"},
	{name: "Velero", module: "velero", library: "github.com/vmware-tanzu/velero", tests: "TestVelero"},
}

// readPrograms returns the known programs with the versions that their modules require.
func readPrograms(dir string) ([]program, error) {
	programs := slices.Clone(knownPrograms)
	for i := range programs {
		p := &programs[i]
		path := filepath.Join(dir, p.module, "go.mod")
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := modfile.ParseLax(path, content, nil)
		if err != nil {
			return nil, err
		}
		for _, required := range file.Require {
			if required.Mod.Path == p.library {
				p.version = strings.TrimPrefix(required.Mod.Version, "v")
			}
		}
		if p.version == "" {
			return nil, fmt.Errorf("%s does not require %s", path, p.library)
		}
	}
	return programs, nil
}
