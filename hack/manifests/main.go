// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command manifests writes what the manifests of an installation repeat.
//
//	manifests ARTIFACTS
//
// In the role and in the admission policy of ARTIFACTS/base, it writes the rules of the kinds in pkg/apis/model/childkinds, between
// two comments. It then writes the templates of the chart for both files from them.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
)

const (
	// Lines that contain these texts are around the rules that the command writes.
	begin = "# BEGIN rules of the children of boxes"
	end   = "# END rules of the children of boxes"

	// namespace is the namespace of an installation in the manifests of the base, and chartNamespace in the templates of the chart.
	namespace      = "modelbox-system"
	chartNamespace = "{{ .Release.Namespace }}"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manifests ARTIFACTS")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(artifacts string) error {
	for name, rules := range map[string]string{"rbac.yaml": roleRules(), "admission-policy.yaml": policyRules()} {
		base := filepath.Join(artifacts, "base", name)
		manifest, err := os.ReadFile(base)
		if err != nil {
			return err
		}
		written, err := withRules(string(manifest), rules)
		if err != nil {
			return fmt.Errorf("writing the rules of %s: %w", base, err)
		}
		if err := os.WriteFile(base, []byte(written), 0o644); err != nil {
			return err
		}
		template := filepath.Join(artifacts, "chart", "modelbox-apiserver", "templates", name)
		if err := os.WriteFile(template, []byte(chartTemplate(written)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// roleRules returns the rules of a ClusterRole that let the server write the children of boxes.
func roleRules() string {
	var rules strings.Builder
	for _, kinds := range childkinds.ByGroup() {
		fmt.Fprintf(&rules, "- apiGroups: [%s]\n  resources: [%s]\n  verbs: [%s]\n",
			group(kinds), resources(kinds), strings.Join(childkinds.Verbs(), ", "))
	}
	return rules.String()
}

// policyRules returns the rules of a ValidatingAdmissionPolicy that match the writes of the children of boxes. Claims have a policy of
// their own.
func policyRules() string {
	var rules strings.Builder
	for _, kinds := range childkinds.ByGroup(childkinds.PersistentVolumeClaim) {
		fmt.Fprintf(&rules, "    - apiGroups: [%s]\n      apiVersions: [\"*\"]\n      resources: [%s]\n      operations: [CREATE, UPDATE, DELETE]\n",
			group(kinds), resources(kinds))
	}
	return rules.String()
}

// group returns the API group of the kinds as YAML.
func group(kinds []childkinds.Kind) string {
	if kinds[0].Group == "" {
		return `""`
	}
	return kinds[0].Group
}

// resources returns the resources of the kinds, separated by commas.
func resources(kinds []childkinds.Kind) string {
	return strings.Join(childkinds.Resources(kinds), ", ")
}

// withRules returns the manifest with the rules between the lines that begin and end them.
func withRules(manifest, rules string) (string, error) {
	before, rest, hasBegin := strings.Cut(manifest, begin)
	comment, rest, hasLine := strings.Cut(rest, "\n")
	written, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasLine || !hasEnd {
		return "", errors.New("it lacks the comments that begin and end the rules")
	}
	indent := written[strings.LastIndex(written, "\n")+1:]
	return before + begin + comment + "\n" + rules + indent + end + after, nil
}

// chartTemplate returns the manifests as a template of the chart: in the namespace of the release, with the label of the chart.
func chartTemplate(manifests string) string {
	var template strings.Builder
	inMetadata := false
	for line := range strings.Lines(strings.ReplaceAll(manifests, namespace, chartNamespace)) {
		if inMetadata && !strings.HasPrefix(line, " ") {
			template.WriteString("  labels:\n    app.kubernetes.io/name: modelbox-apiserver\n")
			inMetadata = false
		}
		inMetadata = inMetadata || line == "metadata:\n"
		template.WriteString(line)
	}
	return template.String()
}
