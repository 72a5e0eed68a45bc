// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package definition

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/openapi"
)

// TestDefinitionIsValid lets the rules of the API server judge, structure and cost of the CEL rules included.
func TestDefinitionIsValid(t *testing.T) {
	scheme := runtime.NewScheme()
	utilruntime.Must(modelv1.AddToScheme(scheme))
	published, err := resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, scheme).ResolveSchema(modelv1.SchemeGroupVersion.WithKind("ModelBox"))
	if err != nil {
		t.Fatal(err)
	}
	definition, err := New(published)
	if err != nil {
		t.Fatal(err)
	}
	definitionScheme := runtime.NewScheme()
	utilruntime.Must(apiextensions.AddToScheme(definitionScheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(definitionScheme))
	definitionScheme.Default(definition)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := definitionScheme.Convert(definition, internal, nil); err != nil {
		t.Fatal(err)
	}
	// The status is the API server's to write.
	internal.Status.StoredVersions = []string{GroupVersion.Version}
	for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), internal) {
		t.Error(err)
	}
}
