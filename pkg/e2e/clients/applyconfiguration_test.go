// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	applymodelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/applyconfiguration/model/v1"
)

// TestApplyConfigurationExtractsOwnFields applies from Go, as the controller of a user would: it applies its own fields, and reads
// them back.
func TestApplyConfigurationExtractsOwnFields(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateBox(framework.NewBox("web"))

	const manager = "tuner"
	mine := applymodelv1.ModelBox("web", n.Name).WithSpec(applymodelv1.ModelBoxSpec().WithReplicas(2))
	applied, err := n.Boxes.Apply(n.Ctx, mine, metav1.ApplyOptions{FieldManager: manager, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "image, which another manager owns", framework.Image, applied.Spec.Image)

	extracted, err := applymodelv1.ExtractModelBox(applied, manager)
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "what the manager applied", mine.Spec, extracted.Spec)
}
