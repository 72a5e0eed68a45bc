// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	prefix = networkingv1.PathTypePrefix
	exact  = networkingv1.PathTypeExact
	other  = networkingv1.PathTypeImplementationSpecific
)

func TestValidateIngress(t *testing.T) {
	host := func(host string) field.ErrorList { return ValidateIngressHost(host, field.NewPath("host")) }
	path := func(path string, pathType networkingv1.PathType) field.ErrorList {
		return ValidateIngressPath(path, pathType, field.NewPath("path"))
	}
	for _, row := range []struct {
		name string
		errs field.ErrorList
		want []string
	}{
		{"a DNS name is accepted", host("shop.example.com"), nil},
		{"a single label is accepted", host("shop"), nil},
		{"a wildcard is accepted", host("*.example.com"), nil},
		{"an upper case letter is refused", host("Shop.example.com"), []string{"Invalid value: host"}},
		{"an underscore is refused", host("my_shop.example.com"), []string{"Invalid value: host"}},
		{"an empty host is refused", host(""), []string{"Required value: host"}},
		{"a host with a port is refused", host("shop.example.com:80"), []string{"Invalid value: host"}},
		{"a URL is refused", host("https://shop.example.com"), []string{"Invalid value: host"}},
		{"a final dot is refused", host("shop.example.com."), []string{"Invalid value: host"}},
		{"an IPv4 address is refused", host("192.0.2.1"), []string{"Invalid value: host"}},
		{"an IPv6 address is refused", host("2001:db8::1"), []string{"Invalid value: host"}},
		{"a wildcard alone is refused", host("*"), []string{"Invalid value: host"}},
		{"a wildcard in the middle is refused", host("a.*.example.com"), []string{"Invalid value: host"}},
		{"a wildcard in a label is refused", host("a*.example.com"), []string{"Invalid value: host"}},
		{"a long host is refused", host(strings.Repeat("a.", 127) + "a"), []string{"Invalid value: host"}},

		{"the root is accepted", path("/", prefix), nil},
		{"a path is accepted", path("/api/v1", exact), nil},
		{"an encoded character is accepted", path("/a%20b", exact), nil},
		{"a relative path is refused", path("api", prefix), []string{"Invalid value: path"}},
		{"no path is refused", path("", exact), []string{"Invalid value: path"}},
		{"two slashes are refused", path("/a//b", prefix), []string{"Invalid value: path"}},
		{"the same folder is refused", path("/a/./b", prefix), []string{"Invalid value: path"}},
		{"the folder above is refused", path("/a/../b", prefix), []string{"Invalid value: path"}},
		{"an encoded slash is refused", path("/a%2fb", prefix), []string{"Invalid value: path"}},
		{"an encoded slash in upper case is refused", path("/a%2Fb", prefix), []string{"Invalid value: path"}},
		{"the folder above at the end is refused", path("/a/..", exact), []string{"Invalid value: path"}},
		{"the same folder at the end is refused", path("/a/.", exact), []string{"Invalid value: path"}},
		{"a pattern of the class is accepted", path("/a//(.*)", other), nil},
		{"no path of the class is accepted", path("", other), nil},
		{"a relative path of the class is refused", path("a", other), []string{"Invalid value: path"}},

		{"a type is accepted", ValidateIngressPathType(other, field.NewPath("pathType")), nil},
		{"another type is refused", ValidateIngressPathType("Regex", field.NewPath("pathType")), []string{"Unsupported value: pathType"}},
		{"the name of a class is accepted", ValidateIngressClassName("nginx.internal", field.NewPath("class")), nil},
		{"an empty class is refused", ValidateIngressClassName("", field.NewPath("class")), []string{"Required value: class"}},
		{"a class in upper case is refused", ValidateIngressClassName("Nginx", field.NewPath("class")), []string{"Invalid value: class"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, err := range row.errs {
				got = append(got, err.Type.String()+": "+err.Field)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
