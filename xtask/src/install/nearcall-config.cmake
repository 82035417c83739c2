# find_package(nearcall): nearcall::nearcall is the shared library, nearcall::static the other one.
get_filename_component(_nearcall_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET nearcall::nearcall)
  add_library(nearcall::nearcall SHARED IMPORTED)
  set_target_properties(nearcall::nearcall PROPERTIES
    IMPORTED_LOCATION "${_nearcall_prefix}/lib/@SONAME@"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_INCLUDE_DIRECTORIES "${_nearcall_prefix}/include")
  add_library(nearcall::static STATIC IMPORTED)
  set_target_properties(nearcall::static PROPERTIES
    IMPORTED_LOCATION "${_nearcall_prefix}/lib/libnearcall.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_nearcall_prefix}/include"
    INTERFACE_LINK_LIBRARIES "@SYSTEM_LIBRARIES@")
endif()

unset(_nearcall_prefix)
