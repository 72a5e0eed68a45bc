// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command openapi-schema prints the OpenAPI v2 schema of the served types: what the generator of the apply
// configurations learns list types and keys from.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
)

// The generator looks for a kind under the name that its Go package gives it, and for what it refers to under the
// name in the published document.
var (
	modelPackage = strings.TrimSuffix(modelv1.ModelBox{}.OpenAPIModelName(), "ModelBox")
	goPackage    = util.ToRESTFriendlyName(reflect.TypeFor[modelv1.ModelBox]().PkgPath() + ".")
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(schema()); err != nil {
		fmt.Fprintf(os.Stderr, "encoding the OpenAPI schema: %v\n", err)
		os.Exit(1)
	}
}

func schema() *spec.Swagger {
	reference := func(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) }
	definitions := spec.Definitions{}
	for name, definition := range openapi.GetOpenAPIDefinitions(reference) {
		definitions[name] = definition.Schema
		if v2, ok := definition.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			definitions[name] = v2
		}
		if kind, ok := strings.CutPrefix(name, modelPackage); ok {
			definitions[goPackage+kind] = definitions[name]
		}
	}
	return &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "ModelBox", Version: "v1"}},
		Definitions: definitions,
	}}
}
