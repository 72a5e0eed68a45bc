// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// defaults are the defaults of boxes that do not depend on other fields.
var defaults = []struct {
	path  string
	value any
}{
	{"spec.replicas", modelv1.DefaultReplicas},
	{"spec.workload", modelv1.WorkloadDeployment},
	{"spec.strategy", modelv1.StrategyRollingUpdate},
	{"spec.rollingUpdate", modelv1.DefaultRollingUpdate},
	{"spec.minReadySeconds", modelv1.DefaultMinReadySeconds},
	{"spec.resourceType", modelv1.ResourceTypeCustom},
	{"spec.rollout.onFailure", modelv1.RolloutFailureNone},
	{"spec.rollout.maxRestarts", modelv1.DefaultMaxRestarts},
	{"spec.defaultProbes", modelv1.DefaultProbesEnabled},
	{"spec.configs.[].rollout", modelv1.ConfigRolloutRestart},
	{"spec.storage.[].retain", true},
	{"spec.storage.[].accessModes", []string{"ReadWriteOnce"}},
}

func addDefaults(root *apiextensionsv1.JSONSchemaProps) error {
	for _, row := range defaults {
		raw, err := json.Marshal(row.value)
		if err != nil {
			return err
		}
		if err := at(root, row.path, func(s *apiextensionsv1.JSONSchemaProps) { s.Default = &apiextensionsv1.JSON{Raw: raw} }); err != nil {
			return err
		}
	}
	return nil
}

const dns1123Label = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`

// constraints are rules of boxes that a schema can say without CEL. The bounds of names also let the cost of the rules be
// estimated.
var constraints = []struct {
	path string
	set  func(*apiextensionsv1.JSONSchemaProps)
}{
	{"spec.name", label},
	{"spec.image", func(s *apiextensionsv1.JSONSchemaProps) { s.MinLength = ptr.To[int64](1) }},
	{"spec.minReadySeconds", between(0, 599)},
	{"spec.progressDeadlineSeconds", between(1, 1<<31-1)},
	{"spec.ports.[].port", between(1, 65535)},
	{"spec.ports.[].nodePort", between(0, 65535)},
	{"spec.ports.[].name", label},
	{"spec.envs.[].name", longest(1024)},
	{"spec.containers.[].name", label},
	{"spec.initContainers.[].name", label},
	{"spec.volumes.[].name", label},
	{"spec.storage.[].name", label},
	{"spec.volumeMounts.[].name", label},
	{"spec.rollout.steps.[].weight", between(0, 100)},
	{"spec.autoscaling.minReplicas", between(0, 1<<31-1)},
	{"spec.autoscaling.maxReplicas", between(1, 1<<31-1)},
	{"spec.autoscaling.cpu", between(1, 1<<31-1)},
	{"spec.autoscaling.memory", between(1, 1<<31-1)},
}

func label(s *apiextensionsv1.JSONSchemaProps) {
	s.Pattern, s.MaxLength = dns1123Label, ptr.To[int64](63)
}

func between(least, most float64) func(*apiextensionsv1.JSONSchemaProps) {
	return func(s *apiextensionsv1.JSONSchemaProps) { s.Minimum, s.Maximum = &least, &most }
}

func longest(length int64) func(*apiextensionsv1.JSONSchemaProps) {
	return func(s *apiextensionsv1.JSONSchemaProps) { s.MinLength, s.MaxLength = ptr.To[int64](1), &length }
}

func addConstraints(root *apiextensionsv1.JSONSchemaProps) error {
	for _, row := range constraints {
		if err := at(root, row.path, row.set); err != nil {
			return err
		}
	}
	return nil
}

// at changes the schema at a path, in which [] are the elements of a list.
func at(schema *apiextensionsv1.JSONSchemaProps, path string, change func(*apiextensionsv1.JSONSchemaProps)) error {
	if path == "" {
		change(schema)
		return nil
	}
	name, rest, _ := strings.Cut(path, ".")
	if name == "[]" {
		if schema.Items == nil {
			return fmt.Errorf("%s: not a list", path)
		}
		return at(schema.Items.Schema, rest, change)
	}
	property, found := schema.Properties[name]
	if !found {
		return fmt.Errorf("%s: no such field", path)
	}
	if err := at(&property, rest, change); err != nil {
		return err
	}
	schema.Properties[name] = property
	return nil
}
