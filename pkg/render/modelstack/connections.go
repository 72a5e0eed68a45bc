// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ConnectedBox returns the box of a component of the stack, with the variables for connections to the dependencies of the
// component, and with its network policy if the stack isolates its components. It returns nil for an external component.
func (r *Renderer) ConnectedBox(component *modelv1.ModelStackComponent) *modelv1.ModelBoxSpec {
	spec := component.Box.DeepCopy()
	if spec != nil {
		r.connect(component, spec)
		if ptr.Deref(r.stack.Spec.Isolate, false) {
			r.isolate(component, spec)
		}
	}
	return spec
}

// connect adds the variables for connections to the dependencies of the component to the containers of its box. It keeps variables
// that a container already sets.
func (r *Renderer) connect(component *modelv1.ModelStackComponent, spec *modelv1.ModelBoxSpec) {
	var variables []corev1.EnvVar
	var sources []corev1.EnvFromSource
	for _, name := range component.DependsOn {
		dependency := r.components[name]
		if dependency == nil {
			continue
		}
		prefix := variablePrefix(name)
		variables = append(variables, connectionVariables(prefix, dependency)...)
		if external := dependency.External; external != nil && external.CredentialsSecretName != "" {
			sources = append(sources, corev1.EnvFromSource{
				Prefix:    prefix,
				SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: external.CredentialsSecretName}},
			})
		}
	}
	spec.Envs, spec.EnvFrom = withVariables(spec.Envs, variables), slices.Concat(sources, spec.EnvFrom)
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			container := &containers[i]
			container.Env, container.EnvFrom = withVariables(container.Env, variables), slices.Concat(sources, container.EnvFrom)
		}
	}
}

// variablePrefix returns the prefix of the names of the variables for a component.
func variablePrefix(component string) string {
	return strings.ToUpper(strings.ReplaceAll(component, "-", "_")) + "_"
}

// connectionVariables returns the variables for connections to a component, none for a component without ports.
func connectionVariables(prefix string, component *modelv1.ModelStackComponent) []corev1.EnvVar {
	port := connectionPort(component)
	if port == 0 {
		return nil
	}
	number := strconv.Itoa(int(port))
	return []corev1.EnvVar{
		{Name: prefix + "HOST", Value: component.BoxName},
		{Name: prefix + "PORT", Value: number},
		{Name: prefix + "URL", Value: net.JoinHostPort(component.BoxName, number)},
	}
}

// connectionPort returns the first port of a component, 0 if it has none. For a headless Service, whose name resolves to the pods,
// it returns the port of the pods.
func connectionPort(component *modelv1.ModelStackComponent) int32 {
	switch {
	case component.External != nil:
		return component.External.Port
	case component.Box == nil || len(component.Box.Ports) == 0:
		return 0
	}
	port := &component.Box.Ports[0]
	if component.Box.ServiceType == modelv1.ServiceTypeHeadless && port.TargetPort.Type == intstr.Int && port.TargetPort.IntVal != 0 {
		return port.TargetPort.IntVal
	}
	return port.Port
}

// withVariables prepends the variables to the variables of a container, so that its own variables can refer to them. It leaves out
// variables that the container sets.
func withVariables(own, variables []corev1.EnvVar) []corev1.EnvVar {
	missing := slices.DeleteFunc(slices.Clone(variables), func(variable corev1.EnvVar) bool {
		return slices.ContainsFunc(own, func(set corev1.EnvVar) bool { return set.Name == variable.Name })
	})
	return slices.Concat(missing, own)
}
