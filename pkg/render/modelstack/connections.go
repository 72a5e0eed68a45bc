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

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// ConnectedBox returns what the stack says of the box of a component, nil where it has none, with the variables that say how
// to connect to what the component depends on. The component is one of the stack's.
func (r *Renderer) ConnectedBox(component *modelv1.ModelStackComponent) *modelv1.ModelBoxSpec {
	spec := component.Box.DeepCopy()
	if spec != nil {
		r.connect(component, spec)
	}
	return spec
}

// connect gives the containers of a box the variables that say how to connect to what the component depends on. What a
// container sets itself stays.
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

// variablePrefix is what the names of the variables about a component begin with.
func variablePrefix(component string) string {
	return strings.ToUpper(strings.ReplaceAll(component, "-", "_")) + "_"
}

// connectionVariables returns none for a component without ports.
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

// connectionPort returns the first port of a component, 0 where it has none. The name of a headless Service leads to the pods
// themselves, so that the port is the one on which they listen.
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

// withVariables puts variables before those that a container sets itself, which can so refer to them, and leaves out those
// that it sets.
func withVariables(own, variables []corev1.EnvVar) []corev1.EnvVar {
	missing := slices.DeleteFunc(slices.Clone(variables), func(variable corev1.EnvVar) bool {
		return slices.ContainsFunc(own, func(set corev1.EnvVar) bool { return set.Name == variable.Name })
	})
	return slices.Concat(missing, own)
}
