// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/children"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// immutable is children.Kind.Immutable of the children of boxes.
func immutable(rendered *unstructured.Unstructured, live children.Object) string {
	return modelboxrender.Immutable(rendered, live)
}
