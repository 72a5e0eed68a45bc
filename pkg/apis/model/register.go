// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the name of the API group.
const GroupName = "model.github.com"

// SchemeGroupVersion is the group version of the internal types.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}

var (
	// SchemeBuilder collects what this package adds to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the internal types to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&ModelBox{},
		&ModelBoxAttachOptions{},
		&ModelBoxDebug{},
		&ModelBoxDiff{},
		&ModelBoxExecOptions{},
		&ModelBoxHistory{},
		&ModelBoxList{},
		&ModelBoxLogOptions{},
		&ModelBoxPortForwardOptions{},
		&ModelBoxRestart{},
		&ModelBoxRetry{},
		&ModelBoxPromotion{},
		&ModelBoxAbort{},
		&ModelBoxRollback{},
		&ModelStack{},
		&ModelStackList{},
		&Network{},
		&NetworkList{},
		&PodDebugger{},
		&PodDebuggerList{},
	)
	return nil
}

// Kind qualifies a kind with the API group.
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

// Resource qualifies a resource name with the API group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}
