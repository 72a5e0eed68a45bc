// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
)

// specs are what children are specified with, by the path of the OpenAPI document that has them and their kinds. Kinds
// without a spec are not among them, and neither are kinds that a cluster may lack.
var specs = specsOf(childkinds.All())

func specsOf(kinds []childkinds.Kind) map[string]map[string]reflect.Type {
	specs := map[string]map[string]reflect.Type{}
	for _, kind := range kinds {
		spec, isSpecified := kind.Type.FieldByName("Spec")
		if !isSpecified || kind.IsOptional {
			continue
		}
		path := documentOf(kind.GroupVersion())
		if specs[path] == nil {
			specs[path] = map[string]reflect.Type{}
		}
		specs[path][kind.Kind] = spec.Type
	}
	return specs
}

// documentOf returns the path of the OpenAPI document of a version of an API group.
func documentOf(version schema.GroupVersion) string {
	if version.Group == "" {
		return "api/" + version.Version
	}
	return "apis/" + version.String()
}

// definitions are the definitions of an OpenAPI document. Only the names of properties are read.
type definitions map[string]struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

func parseDefinitions(document []byte) (definitions, error) {
	var parsed struct {
		Components struct {
			Schemas definitions `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, fmt.Errorf("decoding the OpenAPI document: %w", err)
	}
	return parsed.Components.Schemas, nil
}

// unknownFields are the fields that a cluster does not know, by the struct that has them and their names.
type unknownFields map[reflect.Type]map[string]Field

// newUnknownFields returns the fields of the types, and of what they consist of, that the definitions do not have. Of a type
// that is not defined at all there are none: what refers to it is unknown itself.
func newUnknownFields(roots iter.Seq[reflect.Type], defined definitions) unknownFields {
	unknown, seen := unknownFields{}, map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		t = elementType(t)
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		definition, isDefined := defined[definitionName(t)]
		// What has no properties is not an object in JSON, as a quantity is not.
		if !isDefined || len(definition.Properties) == 0 {
			return
		}
		for name, field := range jsonFields(t) {
			if _, isKnown := definition.Properties[name]; isKnown {
				visit(field.valueType)
				continue
			}
			if unknown[t] == nil {
				unknown[t] = map[string]Field{}
			}
			unknown[t][name] = field.Field
		}
	}
	for root := range roots {
		visit(root)
	}
	return unknown
}

// all returns the fields, each once and sorted.
func (u unknownFields) all() []Field {
	var fields []Field
	for _, ofType := range u {
		for _, field := range ofType {
			fields = append(fields, field)
		}
	}
	slices.SortFunc(fields, func(a, b Field) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name)) })
	return slices.Compact(fields)
}

// names returns all for people.
func (u unknownFields) names() []string {
	var names []string
	for _, field := range u.all() {
		names = append(names, field.String())
	}
	return names
}
