// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestLargeStackIsReplacedWithItsManagedFields reads and writes a stack with many small fields, which are also in its managed
// fields.
func TestLargeStackIsReplacedWithItsManagedFields(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	const components, variables = 15, 1000
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: "large"}, Spec: modelv1.ModelStackSpec{Paused: true}}
	for i := range components {
		box := framework.NewBox("").Spec
		for j := range variables {
			box.Envs = append(box.Envs, framework.EnvValue(fmt.Sprintf("VARIABLE_%d", j), "x"))
		}
		stack.Spec.Components = append(stack.Spec.Components, modelv1.ModelStackComponent{Name: fmt.Sprintf("part-%d", i), Box: &box})
	}
	stacks := n.ControlPlane.ModelClient.ModelV1().ModelStacks(n.Name)
	created, err := stacks.Create(n.Ctx, stack, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(created.ManagedFields) == 0 {
		t.Fatal("it has no managed fields")
	}
	n.Eventually("the stack is replaced", func() error {
		read, err := stacks.Get(n.Ctx, stack.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		read.Spec.Components[0].Box.Envs[0] = corev1.EnvVar{Name: "VARIABLE_0", Value: "y"}
		replaced, err := stacks.Update(n.Ctx, read, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		framework.ExpectEqual(t, "variable", "y", replaced.Spec.Components[0].Box.Envs[0].Value)
		return nil
	})
}
