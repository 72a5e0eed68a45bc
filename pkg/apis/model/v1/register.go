// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the name of the API group.
const GroupName = "model.github.com"

// SchemeGroupVersion is the group version of the types in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

var (
	// SchemeBuilder collects what this package adds to a scheme.
	SchemeBuilder      runtime.SchemeBuilder
	localSchemeBuilder = &SchemeBuilder

	// AddToScheme adds the types, defaults, conversions and field labels of this package to a scheme.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func init() {
	localSchemeBuilder.Register(addKnownTypes, addDefaultingFuncs, addFieldLabelConversions)
}

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
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// Resource qualifies a resource name with the API group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}
